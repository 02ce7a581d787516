using Garnet.Common;

namespace Tsavorite;

/// <summary>Who looks, when, at which namespace, and what is done about cold records.</summary>
internal readonly record struct ScanTerms(
    uint Namespace, long NowMs, HeldPartitions Held, ColdReads? Cold, ScanReads Reads = ScanReads.Wait)
{
    /// <summary>True if the record of a cold word may be one that is looked for.</summary>
    public bool Wants(ColdTier tier, ulong word) =>
        tier.MayHold(word, Namespace) && (Reads != ScanReads.Timed || tier.TimedFromMs(word) <= NowMs);

    /// <summary>True if something has to be fetched first.</summary>
    public bool Lacks => Cold is { HasMissing: true };

    /// <summary>What cannot be read is left out; else it is an exception.</summary>
    public bool Skips { get; init; }

    /// <summary>Of the tier only what was fetched already is looked at.</summary>
    public bool OnlyAtHand { get; init; }

    /// <summary>The walk of <see cref="ScanReads.Timed"/>.</summary>
    public TimedPass? Pass { get; init; }
}

/// <summary>
/// Walks all records of a namespace by a cursor that survives splits and merges: partition, directory prefix with the
/// first tag bit on top, the depth of the segment it was in, bucket. A split only refines the order of prefixes; if
/// the segment was merged meanwhile, its walk starts again. So a key that is there throughout is shown at least once.
/// </summary>
internal static unsafe class Scanner
{
    private const int PrefixBits = IndexWord.TagBits, RandomTries = 64, RefusedTries = 8, ReadsAhead = 64, TimedReadsAhead = 32;
    private const long BucketsMin = 4096;

    public static ulong Scan<T>(StoreCore core, in ScanTerms terms, ulong cursor, int count, ref T visitor) where T : struct, IRead
    {
        int shown = 0;
        bool hasWaited = false, hasMoved = false;
        // Work is bounded by buckets, not results; the floor keeps a nearly empty database from taking thousands of calls.
        long limit = BucketsMin + (10L * Math.Max(count, 1)), buckets = limit;
        int partitions = core.Shape->PartitionCount;
        if ((long)(cursor >> 40) >= partitions)
            return 0;
        terms.Cold?.BeginSeveral();
        terms.Cold?.Patience.EndStep(); // what the step before it has given up is nothing to a walk
        while (shown < count && buckets-- > 0)
        {
            terms.Cold?.Trim();
            if (terms.Cold is { HasMissing: true } cold)
            {
                bool hasEnough = terms.Reads switch
                {
                    ScanReads.Timed => hasWaited || (shown > 0 && cold.MayPostpone is not null),
                    // A part may end anywhere, whoever asks for it; it is only put off, or waited for, where it would be nothing.
                    ScanReads.PutOff => cold.MayPostpone is { } may && (shown > 0 || (hasMoved && !may())),
                    _ => false,
                };
                if (hasEnough)
                    break;
                cold.Fetch(mayThrow: terms.Reads != ScanReads.Wait && shown == 0);
                hasWaited = true;
            }
            else
                hasMoved |= buckets < limit - 1;
            Partition* partition = core.Shape->Partitions + (cursor >> 40);
            bool held = terms.Held.Contains(partition->Number);
            if (!held)
                Partition.Enter(partition);
            try
            {
                cursor = IsEmpty(partition, terms.Namespace)
                    ? (ulong)(partition->Number + 1) << 40
                    : Step(core, partition, terms, cursor, ref visitor, ref shown);
            }
            catch (GarnetException) when (shown > 0 && terms.Reads == ScanReads.PutOff)
            {
                break; // the next part begins with it, and says so
            }
            finally
            {
                if (!held)
                    Partition.Exit(partition); // a visitor that gathers too much leaves by an exception
            }
            if ((int)(cursor >> 40) == partitions)
                return 0;
        }
        if (terms.Reads != ScanReads.Wait)
            terms.Cold?.BeginLeft(); // it is on its way when the walk goes on, and nobody else on the core waits for it
        return cursor;
    }

    /// <summary>Shows a random record. What of the tier it needs to choose one is fetched without the lock; who is put off for it draws the same again.</summary>
    public static bool Random<T>(StoreCore core, in ScanTerms terms, ref ulong random, ref T read) where T : struct, IRead
    {
        ulong before = random;
        terms.Cold?.Patience.EndStep(); // what the step before it has given up is nothing to a walk
        if (terms.Cold is not null)
            terms.Cold.Late = null;
        bool found = RandomOnce(core, terms, ref random, ref read);
        for (int fetches = 1; !found && terms.Cold is { HasMissing: true } cold; fetches++)
        {
            random = before;
            if (cold.Late is { } late && (late.BegunAtUs != 0 || cold.Patience.IsTurnSpent() || fetches > RefusedTries))
                return RandomAtHand(core, terms, late, ref random, ref read);
            cold.Fetch();
            found = RandomOnce(core, terms, ref random, ref read);
        }
        // Where there is nothing but what cannot be read, it is not nothing.
        return found || (terms.Skips && terms.Cold is not null && Random(core, terms with { Skips = false }, ref random, ref read));
    }

    // The device was late, or refuses all that it is asked for: each bucket more would take as long, so that what is in memory has to do.
    private static bool RandomAtHand<T>(StoreCore core, in ScanTerms terms, ColdRead late, ref ulong random, ref T read)
        where T : struct, IRead
    {
        terms.Cold!.Forget();
        if (!RandomOnce(core, terms with { OnlyAtHand = true }, ref random, ref read))
            throw core.Tier!.Unreadable(late);
        return true;
    }

    // False also if something is missing that decides.
    private static bool RandomOnce<T>(StoreCore core, in ScanTerms terms, ref ulong random, ref T read) where T : struct, IRead
    {
        int partitions = core.Shape->PartitionCount;
        uint first = (uint)Draw(ref random, (ulong)partitions);
        for (uint i = 0; i < partitions && !terms.Lacks; i++)
        {
            Partition* partition = core.Shape->Partitions + ((first + i) & (uint)(partitions - 1));
            if (IsEmpty(partition, terms.Namespace))
                continue;
            bool held = terms.Held.Contains(partition->Number);
            if (!held)
                Partition.Enter(partition);
            try
            {
                if (RandomIn(core, partition, terms, ref random, ref read))
                    return true;
            }
            finally
            {
                if (!held)
                    Partition.Exit(partition);
            }
        }
        return false;
    }

    private static bool IsEmpty(Partition* partition, uint ns) => ns >= partition->CountsMax || partition->Counts[ns].Keys == 0;

    /// <summary>A number below <paramref name="below"/>.</summary>
    public static ulong Draw(ref ulong random, ulong below)
    {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        return Math.BigMul(random * KeyHash.NamespaceFactor, below, out _);
    }

    // Cursor: 40.. partition, 18-39 prefix, 13-17 depth, 0-12 bucket.
    private static ulong Step<T>(StoreCore core, Partition* partition, in ScanTerms terms, ulong cursor, ref T visitor, ref int shown)
        where T : struct, IRead
    {
        uint prefix = (uint)(cursor >> 18) & ((1u << PrefixBits) - 1);
        int depthThen = (int)(cursor >> 13) & 31, bucket = (int)cursor & 0x1FFF;
        uint number = IndexSpace.Entries(partition)[(ulong)prefix >> (PrefixBits - IndexSpace.DepthOf(partition))];
        int depth = core.Index.Descriptor(number)->Depth;
        uint span = 1u << (PrefixBits - depth);
        prefix &= ~(span - 1);
        bool merged = depth < depthThen && !StoreTestHooks.Has(PlantedFault.LoseCursorOnMerge);
        if (merged || bucket >= core.Shape->BucketsPerSegment)
            bucket = 0;
        byte* address = core.Index.BucketAt(number, bucket);
        if (terms.Cold is { } cold && LacksAny(core, partition, terms, number, bucket, cold))
            return (ulong)partition->Number << 40 | (ulong)prefix << 18 | (ulong)depth << 13 | (uint)bucket;
        if (!terms.Skips && terms.Pass is null && terms.Cold is { } read)
            ExpectReadable(core, partition, terms, address, read);
        for (SlotWalk walk = new(partition, address); walk.Next();)
        {
            ulong word = *walk.Slot;
            if (Show(core, walk.Slot, terms, ref visitor))
                shown++;
            if (IndexWord.IsCold(word))
                terms.Cold?.Passed(word);
        }
        if (++bucket < core.Shape->BucketsPerSegment)
            return (ulong)partition->Number << 40 | (ulong)prefix << 18 | (ulong)depth << 13 | (uint)bucket;
        ulong next = (ulong)prefix + span;
        return next >> PrefixBits != 0 ? (ulong)(partition->Number + 1) << 40 : (ulong)partition->Number << 40 | next << 18;
    }

    // Fetches the cold records of the bucket that are not there yet, and beside them those of the next buckets, as many as can be kept until their turn; and what others
    // have begun there: it stays until this walk has passed it, too.
    private static bool LacksAny(StoreCore core, Partition* partition, in ScanTerms terms, uint number, int bucket, ColdReads cold)
    {
        int reads = 0, ahead = terms.Reads == ScanReads.Timed ? TimedReadsAhead : ReadsAhead;
        for (int next = bucket; next < core.Shape->BucketsPerSegment && reads < ahead; next++)
        {
            bool mayBegin = next == bucket || cold.MayWalkAhead;
            int lacking = Lacking(core, partition, terms, core.Index.BucketAt(number, next), cold, next == bucket ? null : mayBegin);
            reads += lacking;
            if (next == bucket && reads == 0)
                return false;
            if (!mayBegin && lacking == 0)
                break;
        }
        return true;
    }

    // How many of a bucket's records have to be fetched.
    private static int Lacking(StoreCore core, Partition* partition, in ScanTerms terms, byte* bucket,
        ColdReads cold, bool? mayBeginAhead = null)
    {
        int lacking = 0;
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
        {
            ulong word = *walk.Slot;
            if (!IndexWord.IsCold(word) || (word & IndexWord.InternalBit) != 0 || !terms.Wants(core.Tier!, word))
                continue;
            if (cold.IsUnreadable(word) || (mayBeginAhead == false && cold.IsDone(word)))
                continue;
            if (cold.RecordOfSeveral(word, isAhead: mayBeginAhead is not null) == null)
                lacking++;
        }
        return lacking;
    }

    // Before a record of the bucket is shown: a walk that goes on from here later shows all of it.
    private static void ExpectReadable(StoreCore core, Partition* partition, in ScanTerms terms, byte* bucket, ColdReads cold)
    {
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
        {
            ulong word = *walk.Slot;
            if (!IndexWord.IsCold(word) || (word & IndexWord.InternalBit) != 0 || !terms.Wants(core.Tier!, word))
                continue;
            if (cold.IsUnreadable(word))
                cold.Record(word);
        }
    }

    // Null: it cannot be read, and is left out.
    private static byte* ReadCold(StoreCore core, ulong word, in ScanTerms terms)
    {
        try
        {
            if (terms.Pass is { } pass)
                pass.Segment = core.Tier!.Segments.NumberOf(word);
            return core.RecordAt(word, terms.Cold);
        }
        catch (GarnetException) when (terms.Skips || terms.Pass is not null)
        {
            terms.Pass?.Lacks(terms.NowMs);
            return null;
        }
    }

    private static bool Show<T>(StoreCore core, ulong* slot, in ScanTerms terms, ref T visitor) where T : struct, IRead
    {
        ulong word = *slot;
        if (word == 0 || (word & IndexWord.InternalBit) != 0)
            return false;
        bool isCold = IndexWord.IsCold(word);
        if (isCold && (!terms.Wants(core.Tier!, word) || (terms.OnlyAtHand && !terms.Cold!.IsAtHand(word))))
            return false;
        terms.Pass?.BeInMemory();
        byte* record = isCold ? ReadCold(core, word, terms) : core.RecordAt(word, null);
        if (record == null)
            return false;
        if (Record.Namespace(record) != terms.Namespace)
            return false;
        RecordView view = Record.View(record, word);
        if (view.ExpireAtMs != 0 && view.ExpireAtMs <= terms.NowMs)
            return false;
        visitor.Look(view);
        return true;
    }

    private static bool RandomIn<T>(StoreCore core, Partition* partition, in ScanTerms terms, ref ulong random, ref T read)
        where T : struct, IRead
    {
        ulong* chosen = null;
        ulong tag = Draw(ref random, 1UL << PrefixBits);
        int start = (int)Draw(ref random, (ulong)core.Shape->BucketsPerSegment);
        for (int i = 0; i < RandomTries && chosen == null && !terms.Lacks; i++)
        {
            uint number = IndexSpace.Entries(partition)[tag >> (PrefixBits - IndexSpace.DepthOf(partition))];
            chosen = RandomOf(core, partition, core.Index.BucketAt(number, start), terms, ref random);
            tag = Draw(ref random, 1UL << PrefixBits);
            start = (int)Draw(ref random, (ulong)core.Shape->BucketsPerSegment);
        }
        uint span;
        for (ulong prefix = 0, walked = 0; chosen == null && walked < 1UL << PrefixBits && !terms.Lacks; walked += span, prefix = walked)
        {
            uint number = IndexSpace.Entries(partition)[prefix >> (PrefixBits - IndexSpace.DepthOf(partition))];
            span = 1u << (PrefixBits - core.Index.Descriptor(number)->Depth);
            for (int i = 0; i < core.Shape->BucketsPerSegment && chosen == null && !terms.Lacks; i++)
                chosen = RandomOf(core, partition, core.Index.BucketAt(number, i), terms, ref random);
        }
        if (chosen == null)
            return false;
        ulong word = *chosen;
        bool isShown = Show(core, chosen, terms, ref read);
        if (IndexWord.IsCold(word))
            terms.Cold?.Passed(word);
        return isShown;
    }

    // One of the bucket's records that may be shown, each as likely; null also if some are to be fetched first.
    private static ulong* RandomOf(StoreCore core, Partition* partition, byte* bucket, in ScanTerms terms, ref ulong random)
    {
        if (!terms.OnlyAtHand && terms.Cold is { } cold && Lacking(core, partition, terms, bucket, cold) > 0)
            return null;
        Nothing nothing = default;
        ulong* chosen = null;
        ulong seen = 0;
        for (SlotWalk walk = new(partition, bucket); walk.Next();)
            if (Show(core, walk.Slot, terms, ref nothing) && Draw(ref random, ++seen) == 0)
                chosen = walk.Slot;
        return chosen;
    }

    private struct Nothing : IRead
    {
        public readonly void Look(in RecordView record) { }
    }
}
