namespace Tsavorite;

/// <summary>
/// Records in persistent memory are read where they lie: what is missing of them is there at once, so that nothing is put off for it. They are judged as what a
/// device brings is (store.C4), once for each time that they are placed, after the word was looked at with the segment pinned (store.C3): before, another may be written there.
/// </summary>
internal sealed unsafe partial class ColdReads
{
    /// <summary>
    /// Makes those of the records missing since the mark that lie in persistent memory readable in place. True: look up again, which notes the others as missing once
    /// more. False: none lies there. To be called only after a lookup that no writer has raced with.
    /// </summary>
    public bool TryPlaceMissing((int Missing, int Wanted) mark)
    {
        if (_segments.Memory is null)
            return false;
        bool isAny = false;
        for (int i = mark.Missing; i < _missing.Count && !isAny; i++) isAny = IsInMemory(_missing[i]);
        if (!isAny)
            return false;
        for (int i = mark.Missing; i < _missing.Count; i++)
        {
            ColdRead read = _missing[i];
            if (IsInMemory(read) && _reads.TryAdd(read.Word, read))
                Place(read);
            else
                ComesNot(read);
        }
        _missing.RemoveRange(mark.Missing, _missing.Count - mark.Missing);
        _wanted.RemoveRange(mark.Wanted, _wanted.Count - mark.Wanted);
        return true;
    }

    // What lies in several segments is nowhere whole: it is read as from a disk.
    private bool IsInMemory(ColdRead read) => !read.IsLong && _segments.IsInMemory(_segments.NumberOf(read.Word));

    private void Place(ColdRead read)
    {
        long offset = ColdAddress.Offset(read.Word), end = _segments.OffsetOf(_segments.NumberOf(read.Word)) + _segments.SegmentBytes;
        int room = (int)Math.Min(read.BytesMax, end - offset);
        byte* image = _tier.Medium.InPlace(offset, room);
        bool isWhole = image != null && ColdRecord.TryMeasure(image, room, read.Place, out _);
        _comingBytes -= read.BytesMax;
        _tier.CountPlaced();
        read.IsInPlace = true;
        read.Record = isWhole ? image : null;
        read.State = isWhole ? ColdReadState.Ready : ColdReadState.Failed;
        read.Error = image == null ? Garnet.Common.Linux.Libc.EIO : 0;
        if (!isWhole)
            _tier.CountFailure(read, read.Error);
        _hasNews = true; // whoever waits for it among others looks again
        _kept.Add(read, _steps);
    }
}
