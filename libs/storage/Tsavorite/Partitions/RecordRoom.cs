namespace Tsavorite;

/// <summary>
/// How much room a record gets beyond its value, whether another length fits into it where it lies, and the switch from one record to the
/// next: for all who change values under the partition's lock (<see cref="Writer"/>, <see cref="RecordEdit"/>).
/// </summary>
internal unsafe struct RecordRoom
{
    /// <summary>The flags of the record to come.</summary>
    public byte Flags;
    /// <summary>Bytes that it gets beyond what it needs.</summary>
    public long SlackBytes;
    public long NowMs;
    /// <summary>It may take memory beyond the limit.</summary>
    public bool Force;

    /// <summary>The room of what takes the place of a record: a value that grows a second time gets an eighth more than it asked for, it will probably grow again.</summary>
    public static RecordRoom Behind(byte* old, int keyBytes, in NewRecord next)
    {
        bool grows = next.ValueBytes > Record.ValueBytes(old), grewBefore = (Record.Flags(old) & Record.GrownFlag) != 0;
        return new RecordRoom
        {
            Flags = (byte)(Record.FlagsFor(next) | (grows || grewBefore ? Record.GrownFlag : 0)),
            SlackBytes = grows && grewBefore ? Math.Max(8, ((long)next.ValueBytes + keyBytes) / 8) : 0,
        };
    }

    /// <summary>Makes a record with header and key, and the word that names it; null if there is no memory for it.</summary>
    public readonly byte* Append(StoreCore core, Partition* partition, in KeyRef key, in NewRecord next, out ulong word)
    {
        int exact = Record.Round((long)Record.KeyOffset(Flags) + key.Length + next.ValueBytes);
        long slackUnits = Math.Min(SlackBytes >> 3, Record.SlackUnitsMax);
        bool isExtent = exact + slackUnits * 8 > core.Shape->RecordBytesMax;
        long bytes = exact + (isExtent ? SlackBytes : slackUnits * 8);
        byte* record = core.Records.Append(partition, (int)bytes, next, NowMs, Force);
        word = record == null ? 0 : core.Fill(record, Flags, key, next, isExtent ? 0 : (int)slackUnits);
        return record;
    }

    /// <summary>
    /// True if a record may come back from the tier as a whole to be changed; <paramref name="bytes"/>: what it takes. Nobody has looked for room for it, and there may be many
    /// such: together they take no more than what is not known before a step begins (<see cref="Claim.Assured"/>).
    /// </summary>
    public static bool MayReturn(StoreCore core, Partition* partition, byte* image, out long bytes)
    {
        bytes = ColdRecord.BytesOf(image);
        return core.Arena.MayTake(bytes, partition->Claim == Claim.Limited ? Claim.Assured : partition->Claim);
    }

    /// <summary>The header's second word if the record can have that length where it lies (store.U13, store.P1); false if it is to be moved.</summary>
    public static bool TrySetLength(StoreCore core, Partition* partition, byte* record, int valueBytes, out ulong header)
    {
        header = 0;
        if (core.Records.MustMove(partition, record))
            return false;
        byte flags = Record.Flags(record);
        bool isExtent = (flags & Record.ExtentFlag) != 0;
        long capacity = core.Records.Capacity(record);
        long bytes = (long)Record.KeyOffset(flags) + Record.KeyBytes(record) + valueBytes;
        if (bytes > capacity)
            return false;
        // Where it might come to need segments of its own on the tier, it is copied part by part as it lies: no place of a copy may stand in it (store.C13).
        if (isExtent && (flags & Record.CopyFlag) != 0 && valueBytes > Record.ValueBytes(record))
            return false;
        long slack = isExtent ? capacity - bytes : capacity - Record.Round(bytes);
        if (slack > (isExtent ? Math.Max(2 * Arena.PageBytes, capacity / 4) : Record.SlackUnitsMax * 8))
            return false;
        header = (uint)valueBytes | (ulong)Record.Namespace(record) << 32 | (isExtent ? 0 : (ulong)(slack >> 3) << 56);
        return true;
    }

    /// <summary>The slot's word names the new record from here on, and the old one dies. The frequency stays.</summary>
    public static void Switch(StoreCore core, Partition* partition, byte* bucket, ulong* slot, ulong word)
    {
        ulong oldWord = *slot;
        byte* old = core.Shape->Base + IndexWord.Offset(oldWord);
        uint ns = Record.Namespace(old);
        Bucket.BeginWrite(bucket);
        Volatile.Write(ref *slot, word | (oldWord & IndexWord.FrequencyMask));
        core.Records.Kill(partition, old);
        Bucket.EndWrite(bucket);
        core.Count(partition, ns, oldWord, -1);
        core.Count(partition, ns, word, 1);
    }
}
