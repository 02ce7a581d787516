namespace Tsavorite;

/// <summary>What the device has brought of a session's reads: checked (store.C4), and put to where it stays; or failed.</summary>
/// <param name="tier">Where it comes from.</param>
/// <param name="device">What has it.</param>
/// <param name="queued">What it has not got yet.</param>
/// <param name="longRoom">Where records in several segments are read to.</param>
/// <param name="keep">The read is over.</param>
internal sealed unsafe class ReadEnds(ColdTier tier, DeviceReads device, QueuedReads queued, LongRoom longRoom, Action<ColdRead> keep)
{
    /// <summary>Takes all that has come; true if something has.</summary>
    public bool TakeCome()
    {
        bool isAny = false;
        for (; device.TryTake(out ColdRead read, out int part, out int result); isAny = true)
        {
            if (read.IsLong)
                EndPart(read, part, result);
            else
                End(read, result);
        }
        return isAny;
    }

    private void End(ColdRead read, int result)
    {
        tier.CountRead(read.Bytes, tier.NowUs - read.BegunAtUs);
        if (read.TryMeasure(result, out int bytes, out int error))
            LongRoom.Keep(read, (byte*)read.To + read.Skip, bytes);
        else
            Fail(read, error);
        device.GiveBack(read);
        keep(read);
    }

    private void EndPart(ColdRead read, int number, int result)
    {
        bool hadMore = read.Long!.HasMore;
        read.Long.End(number, result);
        if (hadMore && !read.Long.HasMore)
            queued.RemoveFirstLong(); // it is the first: the rest is not read
        if (!read.Long.IsOver)
            return;
        bool isSound = read.Long.IsSound(out int bytes) && ColdRecord.IsOf(read.Word, (byte*)read.To);
        tier.CountRead(read.Long.ReadBytes, tier.NowUs - read.BegunAtUs);
        read.Record = (byte*)read.To;
        (read.RecordBytes, read.State) = (bytes, ColdReadState.Ready);
        if (!isSound)
            Fail(read, read.Long.Error);
        else if (!read.IsWanted)
            longRoom.KeepHead(read);
        keep(read);
    }

    private void Fail(ColdRead read, int error)
    {
        (read.State, read.Error) = (ColdReadState.Failed, error);
        tier.CountFailure(read, error);
        if (read.Long is not null)
            longRoom.Free(read);
    }
}
