using System.Buffers.Binary;
using Garnet.Common;
using Garnet.Replication.Frames;
using Garnet.Server.Blocking;
using Garnet.Types.Collections;
using Garnet.Types.Lists;
using Garnet.Types.SortedSets;
using Garnet.Types.Streams;
using Garnet.Types.Strings;
using Tsavorite;

namespace Garnet.Server.Replication;

/// <summary>
/// A digest of all that a store holds: what keys mean, not how they are kept, so that servers with the same data agree whatever their
/// hash seeds, partitions and thresholds are. Keys are dealt out to a fixed number of shares, by database and name; a share's
/// digest is a sum, so the order of keys does not matter. What is due and not removed counts: its removal is a change like others.
/// </summary>
internal sealed class StoreDigest
{
    private const int PageKeys = 1000;

    private readonly ulong[] _sums = new ulong[DigestFrame.Shares];

    private StoreDigest()
    {
    }

    /// <summary>Keys counted.</summary>
    internal long Keys { get; private set; }

    /// <summary>The sums of the shares.</summary>
    internal IReadOnlyList<ulong> Sums => _sums;

    /// <summary>
    /// The digest of a store that nobody should change meanwhile; null if <paramref name="goesOn"/>, asked now and then, says that it is of
    /// no use any more, or if the keys found are not as many as there are, or one of their values cannot be read.
    /// </summary>
    internal static StoreDigest? TryOf(Store store, int databases, Func<bool> goesOn)
    {
        using StoreSession session = store.OpenSession();
        try
        {
            return TryOf(store, session, databases, goesOn);
        }
        catch (GarnetException)
        {
            return null;
        }
    }

    /// <summary>The same by a session, whose clock stands at 0: nothing is hidden. A value that cannot be read is an exception.</summary>
    internal static StoreDigest? TryOf(Store store, StoreSession session, int databases, Func<bool> goesOn)
    {
        var digest = new StoreDigest();
        long keys = 0;
        for (int database = 0; database < databases; database++)
        {
            if (!digest.TryAdd(store, session, database, goesOn))
                return null;
            keys += session.Count(store.Namespaces.Id(database));
        }

        return keys == digest.Keys ? digest : null;
    }

    /// <summary>The digest of a store that nobody changes.</summary>
    internal static StoreDigest Of(Store store, int databases) => TryOf(store, databases, static () => true)!;

    private bool TryAdd(Store store, StoreSession session, int database, Func<bool> goesOn)
    {
        uint ns = store.Namespaces.Id(database);
        ulong cursor = 0;
        do
        {
            var page = new Page { Records = [] };
            cursor = session.Scan(ns, cursor, PageKeys, ref page);
            foreach ((byte[] key, ulong fields, ulong value, bool isString) in page.Records)
                Add(ValueDigest.Of(key) + (ulong)database, fields, isString ? value : EntriesOf(store, session, key, ns));
        }
        while (cursor != 0 && goesOn());
        return cursor == 0;
    }

    private void Add(ulong key, ulong fields, ulong value)
    {
        Keys++;
        _sums[key % DigestFrame.Shares] += Mix(Mix(key, fields), value);
    }

    private static unsafe ulong EntriesOf(Store store, StoreSession session, byte[] key, uint ns)
    {
        byte[] padded = [.. key, .. new byte[32]]; // a hash reads behind the end
        fixed (byte* bytes = padded)
        {
            var entries = default(Entries);
            KeyRef found = store.Key(bytes, key.Length, ns);
            session.Examine(in found, ref entries, quiet: true);
            return entries.Sum;
        }
    }

    private static ulong Mix(ulong one, ulong other)
    {
        Span<byte> both = stackalloc byte[2 * sizeof(ulong)];
        BinaryPrimitives.WriteUInt64LittleEndian(both, one);
        BinaryPrimitives.WriteUInt64LittleEndian(both[sizeof(ulong)..], other);
        return ValueDigest.Of(both);
    }

    private struct Page : IRead
    {
        internal List<(byte[] Key, ulong Fields, ulong Value, bool IsString)> Records;

        public readonly void Look(in RecordView record)
        {
            bool isString = record.Kind == RecordKind.String;
            ulong fields = Mix((ulong)record.Kind, Mix((ulong)record.ExpireAtMs, record.ETag));
            Records.Add((record.KeySpan.ToArray(), fields, isString ? ValueDigest.Of(record.ValueSpan) : 0, isString));
        }
    }

    // Entries of a set or hash in any order, elements of a list and of a sorted set in theirs.
    private struct Entries : IExamine
    {
        internal ulong Sum;

        public void Look(ref RecordEdit record)
        {
            if (record.Kind == RecordKind.List)
                SumList(ref record);
            else if (record.Kind == RecordKind.SortedSet)
                SumSortedSet(ref record);
            else if (record.Kind == RecordKind.Stream)
                SumStream(ref record);
            else
                SumMembers(ref record, record.Kind == RecordKind.Set ? EntryForm.Member : EntryForm.Pair);
        }

        private void SumMembers(ref RecordEdit record, EntryForm form)
        {
            for (var walk = default(MemberWalk); walk.Next(ref record, form);)
            {
                Entry entry = walk.Current;
                ulong value = form == EntryForm.Pair ? ValueDigest.Of(entry.ValueSpan) : 0;
                Sum += Mix(Mix(ValueDigest.Of(entry.KeySpan), value), (ulong)entry.ExpireAtMs);
            }
        }

        private void SumList(ref RecordEdit record)
        {
            ListWalk walk = ListWalk.From(ref record, 0);
            while (walk.Next(ref record))
                Sum = Mix(Sum, ValueDigest.Of(walk.Span));
        }

        private void SumStream(ref RecordEdit record)
        {
            using var text = new ReplyBuffer();
            for (var contents = default(StreamContents); contents.Next(ref record, text.Begin(resp3: false));)
                Sum = Mix(Sum, ValueDigest.Of(text.Take()));
        }

        private unsafe void SumSortedSet(ref RecordEdit record)
        {
            var walk = default(SortedWalk);
            walk.Begin(ref record, 0, default);
            while (walk.Next(ref record))
                Sum = Mix(Sum, Mix(ValueDigest.Of(walk.Span), BitConverter.DoubleToUInt64Bits(walk.Score)));
            if (!Root.Has(record.Value, RootFlags.Expiring))
                return;
            for (var members = default(MemberWalk); members.Next(ref record, EntryForm.Scored);)
            {
                Entry entry = members.Current;
                Sum += entry.ExpireAtMs != 0 ? Mix(ValueDigest.Of(entry.KeySpan), (ulong)entry.ExpireAtMs) : 0;
            }
        }
    }
}
