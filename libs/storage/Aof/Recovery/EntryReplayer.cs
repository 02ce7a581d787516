using Garnet.Aof.Format;
using Garnet.Aof.Shipping;
using Garnet.Common;
using Tsavorite;

namespace Garnet.Aof.Recovery;

/// <summary>
/// Applies the entries of a lane, in order; an entry that cannot be applied ends the replay with its place. Where readers look on,
/// each key is announced in the sketch before it is touched (log.A2 in <see cref="BatchApplier"/>).
/// A value that is put part by part is nobody's to see before all parts are there and it was judged (store.V1 in <see cref="IValueCheck"/>): its
/// partition stays locked from the first part to the last.
/// </summary>
internal sealed unsafe class EntryReplayer(Store store, ReplayTable table, StoreSession session, Sketch? sketch = null)
{
    private const int AheadMax = 32;
    private readonly Pending[] _pending = new Pending[AheadMax];
    private int _count;
    private bool _isOpen;
    private Pending _open;

    /// <summary>What was lost of what the entries are changes of; null: nothing.</summary>
    public ColdLosses? Losses { get; init; }

    /// <summary>Applies what the slices that are wanted hold.</summary>
    public void Apply(ReplayBlock block, int worker, int workers)
    {
        _count = 0; // a block before may have ended in a failure
        for (int i = 0; i < block.Slices.Count; i++)
            if (block.Slices[i].Lane % workers == worker)
                Add(block, i);
        Flush(block);
        if (_isOpen)
            Close(block);
    }

    // A slice is short where batches are small: what is looked ahead at goes on over its end.
    private void Add(ReplayBlock block, int index)
    {
        ReplaySlice slice = block.Slices[index];
        byte* at = block.At(slice), end = at + slice.Bytes;
        for (uint left = slice.Entries; left > 0; left--)
        {
            ref Pending next = ref _pending[_count++];
            Decode(slice, ref next, ref at, end);
            next.Slice = index;
            // What follows an operation on the whole store is looked at only after it: it changes what a database's number means.
            if (_count == AheadMax || slice.IsOrdered)
                Flush(block);
        }
        if (at != end)
            throw Bad(slice, "a lane is longer than its entries");
    }

    // Buckets were asked for when the entries were decoded and records are next, so that the memory's answers for all of them overlap
    // (RESULTS, recover).
    private void Flush(ReplayBlock block)
    {
        Span<Pending> pending = _pending.AsSpan(0, _count);
        foreach (ref Pending entry in pending)
        {
            if (entry.Bucket != 0)
                store.PrefetchRecord(entry.Key, entry.Bucket);
        }
        foreach (ref Pending entry in pending) Apply(block, entry);
        _count = 0;
    }

    /// <summary>Applies an operation on the whole store; nothing else may run meanwhile.</summary>
    public static void ApplyControl(Store store, ReplayBlock block)
    {
        ReplaySlice slice = block.Slices[0];
        var bytes = new ReadOnlySpan<byte>(block.At(slice), slice.Bytes);
        if (!EntryHeader.TryRead(bytes, out EntryHeader entry) || entry.EntryBytes != slice.Bytes || entry.KeyBytes != 0)
            throw Bad(slice, "the entry of a control batch is not whole");
        ApplyControl(store, slice, entry, bytes[EntryHeader.Bytes..]);
    }

    private static void ApplyControl(Store store, in ReplaySlice slice, in EntryHeader entry, ReadOnlySpan<byte> arguments)
    {
        if (!ReplayTable.ApplyControl(store, entry.Operation, arguments))
            throw Bad(slice, $"operation {entry.Operation} on the whole store, or its arguments, are not known");
    }

    private void Decode(in ReplaySlice slice, ref Pending next, ref byte* at, byte* end)
    {
        if (!EntryHeader.TryRead(new ReadOnlySpan<byte>(at, (int)(end - at)), out EntryHeader entry))
            throw Bad(slice, "an entry does not fit into its lane");
        if ((uint)entry.Database >= NamespaceTable.DatabasesMax)
            throw Bad(slice, $"there is no database {entry.Database}");
        byte* key = at + EntryHeader.Bytes;
        next.Entry = entry;
        next.Arguments = key + entry.KeyBytes;
        next.Batch = slice.Batch;
        next.Bucket = 0;
        if (!slice.IsOrdered || !ReplayTable.IsControl(entry.Operation))
        {
            next.Key = store.Key(key, entry.KeyBytes, store.Namespaces.Id(entry.Database));
            next.Bucket = store.PrefetchBucket(next.Key);
            sketch?.Prefetch(next.Key.Hash);
        }
        at += entry.EntryBytes;
    }

    private void Apply(ReplayBlock block, in Pending pending)
    {
        ref readonly EntryHeader entry = ref pending.Entry;
        var arguments = new ReadOnlySpan<byte>(pending.Arguments, (int)(entry.EntryBytes - EntryHeader.Bytes - entry.KeyBytes));
        if (_isOpen || table.IsPart(entry.Operation))
            Frame(block, pending);
        if (pending.Bucket == 0)
        {
            ApplyControl(store, block.Slices[pending.Slice], entry, arguments);
            return;
        }
        if (Losses?.Skips(session, pending.Key, table.Replaces(entry.Operation, arguments)) == true)
            return;
        sketch?.Announce(pending.Key.Hash, pending.Batch);
        if (Applies(block, pending, arguments))
            return;
        session.UnlockTo(0);
        _isOpen = false;
        throw Refused(block.Slices[pending.Slice], entry);
    }

    private bool Applies(ReplayBlock block, in Pending pending, ReadOnlySpan<byte> arguments)
    {
        try
        {
            return table.Apply(session, pending.Entry.Operation, pending.Key, arguments);
        }
        catch (GarnetException e) when (sketch is null && store.Settings.Tier is not null)
        {
            // What it is a change of cannot be read: a start knows no more of it than that.
            ReplaySlice slice = block.Slices[pending.Slice];
            throw new GarnetException(ExitKind.Data, $"the log cannot be replayed: {slice.File}, batch {slice.Batch}",
                $"{e.What}: {e.Why}; the log has a change of it",
                "Look at the disk of the tier (tier-path); put its file back from a copy of the same moment, if there is one; "
                    + "else 'garnet-server repair' says what would be lost without");
        }
    }

    // Before a part or after one. What was begun and taken back is not judged: who found no memory midway has logged that too.
    private void Frame(ReplayBlock block, in Pending pending)
    {
        bool isPart = pending.Bucket != 0 && table.IsPart(pending.Entry.Operation);
        bool isSame = _isOpen && pending.Bucket != 0 && pending.Key.Hash == _open.Key.Hash && pending.Key.Namespace == _open.Key.Namespace
            && pending.Key.Span.SequenceEqual(_open.Key.Span);
        if (_isOpen && !(isSame && (isPart || pending.Entry.Operation == DeleteKey.OpId)))
            Close(block);
        if (_isOpen || !isPart)
            return;
        session.Lock([pending.Key]);
        (_isOpen, _open) = (true, pending);
    }

    private void Close(ReplayBlock block)
    {
        _isOpen = false;
        bool isSound = session.IsSound(_open.Key);
        if (!isSound)
        {
            DeleteKey delete = default;
            session.Modify(_open.Key, ref delete);
        }
        session.Unlock();
        if (!isSound)
            throw Bad(block.Slices[_open.Slice], "a value that was put part by part is not as it must be");
    }

    private GarnetException Refused(in ReplaySlice slice, in EntryHeader entry)
    {
        if (!table.Knows(entry.Operation))
            return Bad(slice, $"operation {entry.Operation} is not known");
        StoreFigures figures = store.Figures();
        if (!store.Tight)
            return Bad(slice, $"the arguments of operation {entry.Operation} are not valid");
        return new GarnetException(ExitKind.Configuration, "the data do not fit into memory",
            $"{figures.UsedBytes:N0} of {figures.LimitBytes:N0} bytes are used at batch {slice.Batch} of {slice.File}",
            "Raise maxmemory and start again; nothing on disk was changed.");
    }

    // Its checksums hold: the disk is not to blame.
    private static GarnetException Bad(in ReplaySlice slice, string why) => new(ExitKind.Data,
        $"the log cannot be replayed: {slice.File}, offset {slice.FileOffset}, batch {slice.Batch}", $"{why}, though the checksums hold",
        "A newer server may have written it: start that version. Otherwise keep a copy of the directory and ask for help.");

    private struct Pending
    {
        public EntryHeader Entry;
        public KeyRef Key;
        /// <summary>0 for an operation on the whole store.</summary>
        public nint Bucket;
        public byte* Arguments;
        public ulong Batch;
        public int Slice;
    }
}
