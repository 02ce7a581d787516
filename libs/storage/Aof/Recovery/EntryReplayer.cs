using Garnet.Aof.Format;
using Garnet.Aof.Shipping;
using Garnet.Common;
using Tsavorite;

namespace Garnet.Aof.Recovery;

/// <summary>
/// Applies the entries of a lane, in order; an entry that cannot be applied ends the replay with its place. Where readers look on,
/// each key is announced in the sketch before it is touched (A2 in <see cref="BatchApplier"/>).
/// </summary>
internal sealed unsafe class EntryReplayer(Store store, ReplayTable table, StoreSession session, Sketch? sketch = null)
{
    private const int AheadMax = 16;
    private readonly Pending[] _pending = new Pending[AheadMax];

    public void Apply(ReplayBlock block, in ReplaySlice slice)
    {
        byte* at = block.At(slice), end = at + slice.Bytes;
        // What follows an operation on the whole store is looked at only after it: it changes what a database's number means.
        uint aheadMax = slice.IsOrdered ? 1u : AheadMax;
        for (uint done = 0; done < slice.Entries;)
        {
            Span<Pending> pending = _pending.AsSpan(0, (int)Math.Min(aheadMax, slice.Entries - done));
            Decode(slice, pending, ref at, end);
            foreach (ref Pending entry in pending)
            {
                if (entry.Bucket != 0) store.PrefetchRecord(entry.Key, entry.Bucket);
            }
            foreach (ref Pending entry in pending) Apply(slice, entry);
            done += (uint)pending.Length;
        }
        if (at != end) throw Bad(slice, "a lane is longer than its entries");
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

    // Buckets are asked for here and records next, so that the memory's answers for all of them overlap (RESULTS, recover).
    private void Decode(in ReplaySlice slice, Span<Pending> pending, ref byte* at, byte* end)
    {
        foreach (ref Pending next in pending)
        {
            if (!EntryHeader.TryRead(new ReadOnlySpan<byte>(at, (int)(end - at)), out EntryHeader entry))
                throw Bad(slice, "an entry does not fit into its lane");
            if ((uint)entry.Database >= NamespaceTable.DatabasesMax) throw Bad(slice, $"there is no database {entry.Database}");
            byte* key = at + EntryHeader.Bytes;
            next = new Pending { Entry = entry, Arguments = key + entry.KeyBytes };
            if (!slice.IsOrdered || !ReplayTable.IsControl(entry.Operation))
            {
                next.Key = store.Key(key, entry.KeyBytes, store.Namespaces.Id(entry.Database));
                next.Bucket = store.PrefetchBucket(next.Key);
            }
            at += entry.EntryBytes;
        }
    }

    private void Apply(in ReplaySlice slice, in Pending pending)
    {
        ref readonly EntryHeader entry = ref pending.Entry;
        var arguments = new ReadOnlySpan<byte>(pending.Arguments, (int)(entry.EntryBytes - EntryHeader.Bytes - entry.KeyBytes));
        if (pending.Bucket == 0)
        {
            ApplyControl(store, slice, entry, arguments);
            return;
        }
        sketch?.Announce(pending.Key.Hash, slice.Batch);
        if (!table.Apply(session, entry.Operation, pending.Key, arguments)) throw Refused(slice, entry);
    }

    private GarnetException Refused(in ReplaySlice slice, in EntryHeader entry)
    {
        if (!table.Knows(entry.Operation)) return Bad(slice, $"operation {entry.Operation} is not known");
        StoreFigures figures = store.Figures();
        if (!store.Tight) return Bad(slice, $"the arguments of operation {entry.Operation} are not valid");
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
    }
}
