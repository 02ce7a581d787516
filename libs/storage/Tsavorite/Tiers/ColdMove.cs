namespace Tsavorite;

/// <summary>A record that was copied into a cold segment, and the word that is to name the copy once it is written (store.C1).</summary>
/// <param name="Partition">Number of the partition it lives in.</param>
/// <param name="Hash">Hash of its key.</param>
/// <param name="From">The word that named it when it was copied.</param>
/// <param name="To">The word that will.</param>
/// <param name="Image">The copy, in the segment's buffer; 0: there is none of all of it.</param>
/// <param name="Bytes">Its length.</param>
/// <param name="TimedFromMs">No part of it expires on its own before that moment.</param>
internal readonly record struct ColdMove(int Partition, ulong Hash, ulong From, ulong To, nint Image, int Bytes, long TimedFromMs)
{
    /// <summary>True if nothing was written: the record goes back to where it was (store.C13).</summary>
    public bool IsClean { get; init; }

    /// <summary>store.C1: the slot's word names the copy from here on, and what it named before dies; the partition is locked.</summary>
    public unsafe void Commit(StoreCore core, Partition* partition, byte* bucket, ulong* slot)
    {
        ColdTier tier = core.Tier!;
        if (TimedFromMs != long.MaxValue)
            tier.Segments.NameTimed(To, TimedFromMs);
        bool isCold = IndexWord.IsCold(From);
        Bucket.BeginWrite(bucket);
        Volatile.Write(ref *slot, To | (*slot & IndexWord.FrequencyMask));
        if (!isCold)
            core.Records.Kill(partition, core.Shape->Base + IndexWord.Offset(From));
        Bucket.EndWrite(bucket);
        if (isCold)
            tier.Segments.Died(From);
        tier.CountMove(this);
    }
}
