using System.Numerics;
using Garnet.Types.Collections;
using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Types.Soundness;

/// <summary>The forms of <see cref="Members"/>: packed, integers, chunks.</summary>
public static unsafe class MembersCheck
{
    // Thirty times as many as a page ever holds: chunks are split long before. So a search in a page has an end.
    private const int PageEntriesMax = 1 << 16;
    private const int StackWords = 1024;

    /// <summary>
    /// Packed entries: as many as is said, one behind the other up to the end, no key twice, for who removes one would leave the other; of a
    /// sorted set, in its order. Time grows with the bytes, not with their square.
    /// </summary>
    public static bool ArePacked(byte* value, int bytes, EntryForm form)
    {
        int most = EncodingSettings.PackedBytesLimit * (form == EntryForm.Scored ? SortedForm.PackedTimes : 1);
        if (bytes < Root.PackedBytes || bytes > most || (Root.Flags(value) & ~(RootFlags.Converted | RootFlags.Expiring)) != 0)
            return false;
        byte* at = value + Root.PackedBytes, end = value + bytes;
        int left = Root.PackedCount(value);
        Ascent ascent = default;
        bool isSound = left > 0; // collections.M1
        NumberList.Begin();
        for (; left > 0 && isSound; left--, at = isSound ? at : end)
        {
            isSound = TryEntry(form, at, end, out Entry entry) && (entry.ExpireAtMs == 0 || Root.Has(value, RootFlags.Expiring))
                && (form != EntryForm.Scored || ascent.TryRise(entry.Score, entry.Key, entry.KeyBytes));
            NumberList.Add(isSound ? KeyedSum.Of(entry.Key, entry.KeyBytes) : 0);
            at += entry.Bytes;
        }

        return isSound && at == end && NumberList.AreDistinct();
    }

    /// <summary>Integers of one width, ascending.</summary>
    public static bool AreIntegers(byte* value, int bytes)
    {
        if (bytes < IntegerSet.HeaderBytes || (Root.Flags(value) & ~RootFlags.Converted) != RootFlags.Integers
            || value[1] is not (2 or 4 or 8))
            return false;
        int count = IntegerSet.Count(value);
        if (count <= 0 || bytes != IntegerSet.HeaderBytes + ((long)count * value[1]))
            return false;
        long last = IntegerSet.At(value, 0);
        for (int i = 1; i < count; i++)
        {
            long member = IntegerSet.At(value, i);
            if (member <= last)
                return false;
            last = member;
        }

        return true;
    }

    /// <summary>Entries in chunks: all chunks are there, each entry in the one its hash names, and their sums are the root's.</summary>
    public static bool AreChunked(ref RecordEdit edit, EntryForm form, ref uint limit, out MemberTally tally)
    {
        tally = default;
        if (edit.ValueBytes < Root.ChunkedBytes || !Root.IsChunked(edit.Value) || Root.Has(edit.Value, RootFlags.Integers)
            || (byte)Root.Flags(edit.Value) > RootFlagsMax)
            return false;
        uint chunks = Root.Chunks(edit.Value);
        limit = Math.Max(limit, chunks);
        if (chunks == 0 || chunks > RootLimit.Of(edit.Value))
            return false;
        for (uint number = 0; number < chunks; number++)
        {
            byte* at = edit.Chunk(number, out int bytes);
            if (at == null || !IsPage(at, bytes, form, new PagePlace(edit.Owner, number, chunks), ref tally)) // collections.L1
                return false;
        }

        // Who counts what is shown looks for those that are due only where the root says that there may be some.
        return (tally.Timed == 0 || Root.Has(edit.Value, RootFlags.Expiring)) && tally.Count > 0
            && tally.Count == Root.ChunkedCount(edit.Value) && tally.Bytes == Root.EntryBytes(edit.Value);
    }

    private const byte RootFlagsMax =
        (byte)(RootFlags.Chunked | RootFlags.Converted | RootFlags.Expiring | RootFlags.Integers | RootFlags.Branched);

    /// <summary>An entry that is whole before the end and written as this server writes it, so that it takes as many bytes again.</summary>
    private static bool TryEntry(EntryForm form, byte* at, byte* end, out Entry entry) =>
        Entry.TryRead(form, at, end, out entry) && entry.Bytes == Entry.BytesOf(form, entry) && entry.Bytes <= Store.ElementBytesMax;

    private readonly record struct PagePlace(ulong Owner, uint Number, uint Chunks);

    private static bool IsPage(byte* at, int bytes, EntryForm form, in PagePlace place, ref MemberTally tally)
    {
        var page = new Page(at, bytes);
        if (bytes < Page.HeaderBytes || !page.HasSoundHead(PageEntriesMax))
            return false;
        int behind = Page.HeaderBytes;
        long live = 0;
        bool isRising = true;
        for (int slot = 0; slot < page.Count; slot++)
        {
            int offset = page.OffsetOf(slot);
            if (offset < Page.HeaderBytes || offset >= page.Used || !TryEntry(form, at + offset, at + page.Used, out Entry entry))
                return false;
            isRising &= offset >= behind;
            behind = offset + entry.Bytes;
            live += entry.Bytes;
            tally.Timed += entry.ExpireAtMs != 0 ? 1 : 0;
            ulong hash = RecordEdit.Hash(entry.Key, entry.KeyBytes, place.Owner);
            if (ChunkedMembers.NumberOf(hash, place.Chunks) != place.Number || page.FingerprintAt(slot) != ChunkedMembers.Fingerprint(hash))
                return false;
            if (form == EntryForm.Scored)
                Add(entry, hash, ref tally);
        }

        tally.Count += page.Count;
        tally.Bytes += live;
        return live == page.LiveBytes && (isRising || AreApart(page, at, form)); // collections.P2
    }

    private static void Add(in Entry entry, ulong hash, ref MemberTally tally)
    {
        tally.Scores += KeyedSum.Of(entry.Key, entry.KeyBytes, entry.Score);
        if (entry.ExpireAtMs != 0)
            tally.Times += KeyedSum.Of((ulong)entry.ExpireAtMs, hash);
    }

    // No byte belongs to two entries; each of them is whole.
    private static bool AreApart(in Page page, byte* at, EntryForm form)
    {
        int words = (page.Used + 63) / 64;
        Span<ulong> starts = words <= StackWords ? stackalloc ulong[words] : new ulong[words];
        starts.Clear();
        for (int slot = 0; slot < page.Count; slot++)
        {
            int offset = page.OffsetOf(slot);
            ulong bit = 1UL << (offset & 63);
            if ((starts[offset >> 6] & bit) != 0)
                return false;
            starts[offset >> 6] |= bit;
        }

        int behind = 0;
        for (int word = 0; word < words; word++)
        {
            for (ulong bits = starts[word]; bits != 0; bits &= bits - 1)
            {
                int offset = (word << 6) + BitOperations.TrailingZeroCount(bits);
                if (offset < behind)
                    return false;
                Entry.TryRead(form, at + offset, at + page.Used, out Entry entry);
                behind = offset + entry.Bytes;
            }
        }

        return true;
    }
}
