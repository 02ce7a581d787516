using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Server.Commands;
using Garnet.Types.Collections;
using Garnet.Types.Hashes;
using Garnet.Types.Keys;
using Garnet.Types.Lists;
using Garnet.Types.Sets;
using Garnet.Types.SortedSets;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Server.Families.Collections;

/// <summary>
/// Copies a collection with chunks to another key. Lists and streams go chunk by chunk as they are. Where the hash of a key says the chunk, as the owner number
/// seeds it (collections.L2), chunks are dealt out anew: the log gets what a client would have sent to build it. Both partitions are locked by the session.
/// </summary>
internal static unsafe class CollectionTransfer
{
    // So much goes over at once: whoever gets it makes room for all of it first.
    private const int FeedBytes = 1 << 18;

    // Only what comes first is put into its order at once. Members that follow go to it one by one, and each page that is written anew for them stays until
    // the command ends: with feeds of the usual length a copy took four times what it left.
    private const int SortedFeedBytes = 1 << 24;
    private const int RootChanges = 4; // the root, a last feed that is not full, the key's own expiry, and one to spare

    /// <summary>Copies; what stood under the target is gone then. If the copy has no room it is as it was.</summary>
    internal static Outcome Copy(ref Call call, in KeyRef source, in KeyRef target, in PutRecord root)
    {
        StoreSession store = call.Session;
        var size = default(FootprintLook);
        store.Examine(in source, ref size, quiet: true);
        using var replacing = new Replacing(store, target);
        if (!replacing.TryBegin(size.Bytes, ChangesOf(in root, in size), ArgumentBytesOf(in root, in size)))
            return Outcome.OutOfMemory;
        Outcome outcome = root.Kind switch
        {
            RecordKind.Stream => PieceTransfer.Copy<StreamPiece>(store, in source, in target, in root, hasFirstSet: true),
            RecordKind.List => PieceTransfer.Copy<ListPiece>(store, in source, in target, in root, hasFirstSet: false),
            _ => CopyEntries(ref call, in source, in target, in root),
        };
        if (outcome == Outcome.Done)
        {
            var expiry = new ChangeExpiry { ExpireAtMs = root.ExpireAtMs, NowMs = long.MinValue };
            store.Modify(in target, ref expiry);
        }

        return replacing.End(outcome);
    }

    // What it takes in memory is more than what its entries take in the log; scores are texts there, which are asked for at their longest.
    private static long ArgumentBytesOf(in PutRecord root, in FootprintLook size) =>
        root.Kind == RecordKind.SortedSet ? size.Bytes + (Root.ChunkedCount(root.Value) * NumberText.DoubleBytesMax) : size.Bytes;

    // Lists and streams go record by record, others in feeds, but for entries with an expiry, each of which goes by itself.
    private static long ChangesOf(in PutRecord root, in FootprintLook size)
    {
        if (root.Kind is RecordKind.Stream or RecordKind.List)
            return size.Records + RootChanges;
        long expiring = Root.Has(root.Value, RootFlags.Expiring) ? Root.ChunkedCount(root.Value) : 0;
        int operations = root.Kind == RecordKind.Hash ? 1 : 2; // a field is put with its time, a member put, and timed
        return (size.Bytes / FeedBytes) + (operations * expiring) + RootChanges;
    }

    private static Outcome CopyEntries(ref Call call, in KeyRef source, in KeyRef target, in PutRecord root)
    {
        StoreSession store = call.Session;
        uint chunks = Root.Chunks(root.Value);
        bool converted = Root.Has(root.Value, RootFlags.Converted), expires = Root.Has(root.Value, RootFlags.Expiring);
        CollectionLimits limits = CollectionLimits.Replay with { PackedBytesMax = call.Server.Settings.Encoding.PackedBytesMax };
        int feedBytes = root.Kind == RecordKind.SortedSet ? SortedFeedBytes : FeedBytes;
        Outcome outcome = Outcome.Done;
        var text = default(ChunkText);
        try
        {
            // One of the blocks that are kept: growing to it costs as much as a third of the copy.
            text.Bytes.Reserve(FeedBytes + (FeedBytes / 8));
            while (text.Number < chunks && outcome == Outcome.Done)
            {
                store.Examine(in source, ref text, quiet: true);
                for (int slot = 0; expires && slot < text.Slots && outcome == Outcome.Done; slot++)
                {
                    var one = new ChunkText { Number = text.Number, OnlySlot = slot + 1 };
                    store.Examine(in source, ref one, quiet: true);
                    outcome = Feed(store, in target, ref one, root.Kind, converted, limits);
                }

                text.Number++;
                if (outcome == Outcome.Done && (text.Bytes.Count >= feedBytes || text.Number >= chunks))
                    outcome = Feed(store, in target, ref text, root.Kind, converted, limits);
            }
        }
        finally
        {
            text.Bytes.Free(); // collections.Q1
        }

        return outcome;
    }

    private static Outcome Feed(
        StoreSession store, in KeyRef target, ref ChunkText text, RecordKind kind, bool converted, in CollectionLimits limits)
    {
        if (text.Bytes.Count == 0)
            return Outcome.Done;
        try
        {
            return Build(store, in target, text, kind, converted, limits);
        }
        finally
        {
            text.Bytes.Free(); // collections.Q1
        }
    }

    private static Outcome Build(
        StoreSession store, in KeyRef target, in ChunkText text, RecordKind kind, bool converted, in CollectionLimits limits)
    {
        Operands operands = OperandText.Read(text.Bytes);
        Outcome outcome = Outcome.TooLarge;
        if (kind == RecordKind.Hash)
        {
            var put = new HashPut { Pairs = operands, ExpireAtMs = text.ExpireAtMs, Limits = limits, Converted = converted };
            put.AreDistinct = true;
            outcome = store.Edit(in target, ref put);
        }
        else if (kind == RecordKind.Set)
        {
            var add = new SetAdd { Keys = operands, Limits = limits, Converted = converted, AreDistinct = true };
            outcome = store.Edit(in target, ref add);
        }
        else if (kind == RecordKind.SortedSet)
        {
            var put = new SortedSetPut { Scored = operands, Limits = limits, Converted = converted };
            outcome = store.Edit(in target, ref put);
            if (outcome == Outcome.Done && text.ExpireAtMs != 0)
                outcome = Retime(store, in target, operands, text.ExpireAtMs);
        }

        return outcome;
    }

    // The only member, behind its score.
    private static Outcome Retime(StoreSession store, in KeyRef target, in Operands scored, long expireAtMs)
    {
        Operands.Reader reader = scored.Read();
        reader.Next();
        var member = new Arg { Bytes = reader.Bytes + sizeof(double), Length = reader.Length - sizeof(double) };
        var retime = new RetimeEntries { Keys = new Operands(&member, 1), ExpireAtMs = expireAtMs };
        return store.Edit(in target, ref retime);
    }
}
