using Garnet.Common.Time;

namespace Tsavorite;

/// <summary>
/// Removes the records of namespaces that were given up, and gives their ids back when none is left. What it removes is saved for
/// a running snapshot: like a writer, it stops while that is behind, and goes on with the next step.
/// </summary>
internal sealed unsafe class Reclaimer : IDisposable
{
    private const int BucketsPerHold = 16;
    private readonly StoreCore _core;
    private readonly NamespaceTable _table;
    private readonly ColdReads? _cold;
    private const long PauseMs = 1000;
    private bool _unreadable, _lacks; // in the lap that goes on; in the bucket that it is at
    private long _leftMs;

    public Reclaimer(StoreCore core, NamespaceTable table)
    {
        _core = core;
        _table = table;
        if (core.Tier is { } tier)
            _cold = new ColdReads(tier, Garnet.Media.ReaderWake.None) { HoldsUpOthers = true, IsBesideCommands = true };
    }

    /// <summary>Empties all namespaces retired by now; true if there were any.</summary>
    public bool Step(long nowMs)
    {
        uint[] retired = _table.Retired();
        if (retired.Length == 0 || Elapsed.IsWithin(nowMs, _leftMs, PauseMs))
            return false;
        for (int i = 0; i < _core.Shape->PartitionCount; i++)
        {
            if (Empty(_core.Shape->Partitions + i, retired))
                continue;
            if (_unreadable)
                _leftMs = nowMs;
            return true;
        }
        foreach (uint ns in retired) _table.Rest(ns, nowMs);
        return true;
    }

    // False if it stopped for a snapshot, or before what cannot be read: it may be of another namespace.
    private bool Empty(Partition* partition, uint[] retired)
    {
        ulong position = 0;
        _unreadable = false;
        _cold?.ForgetFailed();
        while (Walk(partition, retired, ref position))
        {
            if (!_lacks)
                _cold?.BeginStep();
            if (_core.Snapshots.Running is { Behind: true })
                return false;
        }
        _cold?.Release();
        return !_unreadable;
    }

    // One lock hold. The directory may change between holds; the walk starts again until the counts are zero.
    private bool Walk(Partition* partition, uint[] retired, ref ulong position)
    {
        Partition.Enter(partition);
        bool more = HoldsAny(partition, retired);
        ulong perSegment = (ulong)_core.Shape->BucketsPerSegment;
        for (int i = 0; i < BucketsPerHold && more; i++)
        {
            ulong entry = position / perSegment;
            if (entry >> IndexSpace.DepthOf(partition) != 0)
            {
                if (_unreadable)
                    more = false; // all else is gone
                position = entry = 0;
            }
            byte* bucket = _core.Index.BucketAt(IndexSpace.Entries(partition)[entry], (int)(position % perSegment));
            EmptyBucket(partition, bucket, retired);
            if (_cold is { HasMissing: true })
                break; // the same bucket again, with what it lacks
            position++;
        }
        Partition.Exit(partition);
        _lacks = _cold is { HasMissing: true };
        if (_lacks)
            _cold!.Fetch();
        return more;
    }

    private bool HoldsAny(Partition* partition, uint[] retired)
    {
        foreach (uint ns in retired)
            if ((partition->Counts[ns].Keys | partition->Counts[ns].Chunks) != 0)
                return true;
        return false;
    }

    // A segment of the tier whose records are all of one namespace tells it without a read.
    private bool TryNamespace(ulong word, bool isCold, out uint ns)
    {
        ns = 0;
        if (isCold && _core.Tier!.NamespaceOf(word) is >= 0 and var of)
        {
            ns = (uint)of;
            return true;
        }
        byte* record = isCold ? ReadCold(word) : _core.Shape->Base + IndexWord.Offset(word);
        if (record == null)
            return false;
        ns = Record.Namespace(record);
        return true;
    }

    // What cannot be read stays: nobody can say whose it is.
    private byte* ReadCold(ulong word)
    {
        try
        {
            return _cold!.Record(word);
        }
        catch (Garnet.Common.GarnetException)
        {
            _unreadable = true;
            return null;
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _cold?.Dispose();

    // Removing a word may pull another into its slot: look at the bucket anew after each removal.
    private void EmptyBucket(Partition* partition, byte* bucket, uint[] retired)
    {
        bool removed = true;
        while (removed)
        {
            removed = false;
            for (SlotWalk walk = new(partition, bucket); walk.Next() && !removed;)
            {
                if (*walk.Slot == 0)
                    continue;
                bool isCold = IndexWord.IsCold(*walk.Slot);
                if (!TryNamespace(*walk.Slot, isCold, out uint ns) || Array.IndexOf(retired, ns) < 0)
                    continue;
                if (isCold)
                    _core.RemoveCold(partition, bucket, walk.Slot, ns);
                else
                    _core.Remove(partition, bucket, walk.Slot); // given up in one step, which the log has
                removed = true;
            }
        }
    }
}
