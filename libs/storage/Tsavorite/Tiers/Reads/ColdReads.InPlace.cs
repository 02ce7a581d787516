namespace Tsavorite;

/// <summary>What is missing and lies in persistent memory (<see cref="PlacedReads"/>) is there at once, so that nothing is put off for it.</summary>
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
        for (int i = mark.Missing; i < _missing.Count && !isAny; i++) isAny = PlacedReads.IsInMemory(_segments, _missing[i]);
        if (!isAny)
            return false;
        for (int i = mark.Missing; i < _missing.Count; i++)
        {
            ColdRead read = _missing[i];
            if (PlacedReads.IsInMemory(_segments, read) && _reads.TryAdd(read.Word, read))
                Place(read);
            else
                ComesNot(read);
        }
        _missing.RemoveRange(mark.Missing, _missing.Count - mark.Missing);
        _wanted.RemoveRange(mark.Wanted, _wanted.Count - mark.Wanted);
        return true;
    }

    private void Place(ColdRead read)
    {
        _comingBytes -= read.BytesMax;
        PlacedReads.Place(_tier, read);
        _hasNews = true; // whoever waits for it among others looks again
        _kept.Add(read, _steps);
    }
}
