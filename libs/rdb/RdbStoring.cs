using Garnet.Common.Resp;
using Garnet.Rdb.Streams;
using Garnet.Types;
using Garnet.Types.Collections;
using Garnet.Types.Hashes;
using Garnet.Types.Keys;
using Garnet.Types.Lists;
using Garnet.Types.Sets;
using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Rdb;

/// <summary>
/// Puts a value that has been read under a key, by the same operations as a client would: a large collection in several, so that the
/// log and replicas get parts of bounded size. The key's partition is locked by the session meanwhile.
/// </summary>
public static unsafe class RdbStoring
{
    private const int RootChanges = 3; // a last slice that is not full, the key's own expiry, and one to spare

    /// <summary>Puts it there; what stood under the key is gone then. If there is no room it is as it was.</summary>
    public static Outcome Put(StoreSession store, in KeyRef key, RdbValue value, long expireAtMs, EncodingSettings encoding)
    {
        if (value.Kind == RecordKind.String)
        {
            var put = new PutRecord
            {
                Kind = RecordKind.String,
                Value = value.String.Bytes,
                Length = value.String.Length,
                ExpireAtMs = expireAtMs,
                ETag = value.ETag,
            };
            return store.Modify(in key, ref put);
        }

        using var replacing = new Replacing(store, key);
        (long changes, long bytes) = value.Stream is { } counted
            ? StreamStoring.LogOf(counted)
            : (value.FieldTimes?.Count ?? (value.Bytes / RdbValue.SliceBytes), value.Bytes);
        if (!replacing.TryBegin(bytes, changes + RootChanges, bytes))
            return Outcome.OutOfMemory;
        Outcome outcome = value.Stream is { } stream ? StreamStoring.Put(store, in key, stream, encoding)
            : value.FieldTimes is { } times ? PutTimes(store, in key, value, times, encoding) : PutSlices(store, in key, value, encoding);
        if (outcome == Outcome.Done && expireAtMs != 0)
        {
            var expiry = new ChangeExpiry { ExpireAtMs = expireAtMs, NowMs = long.MinValue };
            store.Modify(in key, ref expiry);
        }

        return replacing.End(outcome);
    }

    private static Outcome PutSlices(StoreSession store, in KeyRef key, RdbValue value, EncodingSettings encoding)
    {
        int at = 0;
        bool pairs = value.Kind is RecordKind.Hash or RecordKind.SortedSet;
        while (value.NextSlice(ref at, pairs, out Operands slice))
        {
            Outcome outcome = PutSlice(store, in key, value.Kind, slice, encoding);
            if (outcome != Outcome.Done)
                return outcome;
        }

        return Outcome.Done;
    }

    private static Outcome PutSlice(StoreSession store, in KeyRef key, RecordKind kind, in Operands slice, EncodingSettings encoding)
    {
        switch (kind)
        {
            case RecordKind.List:
                var push = new ListPush { Values = slice, Limits = ListLimits.Of(encoding) };
                return store.Edit(in key, ref push);
            case RecordKind.Set:
                SetAdd add = SetAdd.Of(encoding, slice);
                return store.Edit(in key, ref add);
            case RecordKind.SortedSet:
                var put = new SortedSetPut { Pairs = slice, Limits = CollectionLimits.OfSortedSets(encoding) };
                return store.Edit(in key, ref put);
            default:
                var pairs = new HashPut { Pairs = slice, Limits = CollectionLimits.OfHashes(encoding) };
                return store.Edit(in key, ref pairs);
        }
    }

    private static Outcome PutTimes(StoreSession store, in KeyRef key, RdbValue value, List<long> times, EncodingSettings encoding)
    {
        int field = 0;
        Arg* pair = stackalloc Arg[2];
        for (Operands.Reader reader = value.All().Read(); reader.Next(); field++)
        {
            pair[0] = new Arg { Bytes = reader.Bytes, Length = reader.Length };
            reader.Next();
            pair[1] = new Arg { Bytes = reader.Bytes, Length = reader.Length };
            var put =
                new HashPut { Pairs = new Operands(pair, 2), ExpireAtMs = times[field], Limits = CollectionLimits.OfHashes(encoding) };
            Outcome outcome = store.Edit(in key, ref put);
            if (outcome != Outcome.Done)
                return outcome;
        }

        return Outcome.Done;
    }
}
