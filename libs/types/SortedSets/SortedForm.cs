using System.Runtime.CompilerServices;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.SortedSets;

/// <summary>
/// A sorted set in either form. Packed: entries in the order of score and member. Chunked: <see cref="ChunkedMembers"/> from member
/// to score and expiry, and beside it <see cref="SortedOrder"/>. If members have an expiry, also <see cref="SortedTimes"/>.
/// sortedsets.Z1: both parts hold the same members with the same scores.
/// </summary>
public static unsafe class SortedForm
{
    // In chunks a member lies twice, by name and in order: up to so many times the bytes of other collections one record is smaller (RESULTS).
    public const int PackedTimes = 4;

    /// <summary>The score of a member that is there and not due.</summary>
    public static bool Find(ref RecordEdit edit, byte* member, int bytes, out double score)
    {
        bool found = Members.Find(ref edit, EntryForm.Scored, member, bytes, out Entry entry) && !entry.IsDue(edit.NowMs);
        score = found ? entry.Score : 0;
        return found;
    }

    /// <summary>
    /// Gives a member a score and an expiry, of which one differs from what was found of it just now, if it is there. The parts lie elsewhere.
    /// </summary>
    public static PutResult Put(ref RecordEdit edit, in Entry parts, in Entry found, in CollectionLimits limits)
    {
        if (Entry.BytesOf(EntryForm.Scored, parts) > Store.ElementBytesMax)
        {
            edit.RefuseSize();
            return PutResult.Failed;
        }

        if (found.Start != null && found.ExpireAtMs == parts.ExpireAtMs && Root.IsChunked(edit.Value))
            return Rescore(ref edit, parts, found, limits);
        PutResult? packed = edit.Exists && Root.IsChunked(edit.Value) ? null : TryPutPacked(ref edit, parts, found, limits);
        PutResult put = packed ?? PutChunked(ref edit, parts, limits, isNew: found.Start == null);
        if (parts.ExpireAtMs != 0 && put != PutResult.Failed)
            Root.Raise(ref edit, RootFlags.Expiring);
        return put;
    }

    /// <summary>Removes a member, whose place in order may be known; with the last one goes the record.</summary>
    public static bool Remove(ref RecordEdit edit, byte* member, int bytes, in SequencePlace? place = null)
    {
        if (!Members.Find(ref edit, EntryForm.Scored, member, bytes, out Entry entry))
            return false;
        if (Root.IsChunked(edit.Value) && Root.ChunkedCount(edit.Value) > 1)
        {
            long expireAtMs = entry.ExpireAtMs;
            if (place is { } known)
                SortedOrder.Remove(ref edit, known);
            else
                SortedOrder.Remove(ref edit, SortBound.Of(entry.Score, member, bytes));
            if (expireAtMs != 0)
                SortedTimes.Remove(ref edit, member, bytes, expireAtMs);
        }

        return Members.Remove(ref edit, EntryForm.Scored, member, bytes);
    }

    /// <summary>How many elements lie below the bound, of those that are shown.</summary>
    public static long CountBelow(ref RecordEdit edit, in SortBound bound, in HiddenRanks hidden) =>
        hidden.Shown(CountBelow(ref edit, bound));

    /// <summary>How many elements lie below the bound, of all.</summary>
    public static long CountBelow(ref RecordEdit edit, in SortBound bound)
    {
        if (bound.Kind is BoundKind.Nothing or BoundKind.Everything)
            return bound.Kind == BoundKind.Nothing ? 0 : Root.Count(edit.Value);
        if (!Root.IsChunked(edit.Value))
        {
            PassBelow(edit.Value + Root.PackedBytes, edit.Value + edit.ValueBytes, bound, out long below);
            return below;
        }

        SequencePlace place = SortedOrder.PlaceOf(ref edit, bound);
        return PageDirectory.CountBefore(ref edit, place.Page) + place.Index;
    }

    private static PutResult PutChunked(ref RecordEdit edit, in Entry parts, in CollectionLimits limits, bool isNew)
    {
        Entry entry = default;
        bool isUpdate = !isNew && Members.Find(ref edit, EntryForm.Scored, parts.Key, parts.KeyBytes, out entry);
        double old = isUpdate ? entry.Score : 0;
        long oldExpiry = entry.ExpireAtMs;
        bool moves = !isUpdate || old != parts.Score, isTimed = parts.ExpireAtMs != 0 && parts.ExpireAtMs != oldExpiry;
        if (isTimed && !SortedTimes.TryAdd(ref edit, parts.Key, parts.KeyBytes, parts.ExpireAtMs))
            return PutResult.Failed;
        bool isListed = !moves || SortedOrder.TryAdd(ref edit, parts);
        PutResult put = isListed ? ChunkedMembers.Put(ref edit, EntryForm.Scored, parts, Names(limits), isNew) : PutResult.Failed;
        if (put != PutResult.Failed)
        {
            if (isUpdate && moves)
                SortedOrder.Remove(ref edit, SortBound.Of(old, parts.Key, parts.KeyBytes));
            if (oldExpiry != 0 && oldExpiry != parts.ExpireAtMs)
                SortedTimes.Remove(ref edit, parts.Key, parts.KeyBytes, oldExpiry);
            return put;
        }

        if (moves && isListed)
            SortedOrder.Remove(ref edit, SortBound.Of(parts.Score, parts.Key, parts.KeyBytes));
        if (isTimed)
            SortedTimes.Remove(ref edit, parts.Key, parts.KeyBytes, parts.ExpireAtMs);
        return PutResult.Failed;
    }

    // The most frequent change: the score is overwritten where it lies, and the element goes from its place in order to another.
    private static PutResult Rescore(ref RecordEdit edit, in Entry parts, in Entry found, in CollectionLimits limits)
    {
        double old = found.Score;
        byte* score = edit.OpenAt(found.Value);
        if (score == null)
            return PutResult.Failed;
        Unsafe.WriteUnaligned(score, parts.Score);
        if (!SortedOrder.TryMove(ref edit, parts, old))
        {
            Members.Find(ref edit, EntryForm.Scored, parts.Key, parts.KeyBytes, out Entry entry);
            Unsafe.WriteUnaligned(edit.OpenAt(entry.Value), old); // it was opened before: it need not move
            return PutResult.Failed;
        }

        if (Exceeds(limits, parts, 0))
            Root.Raise(ref edit, RootFlags.Converted);
        return PutResult.Replaced;
    }

    // The eight bytes of a score are no value that could be too long.
    internal static CollectionLimits Names(in CollectionLimits limits) =>
        limits with { ValueBytesMax = Math.Max(limits.ValueBytesMax, Entry.ScoreBytes) };

    private static bool Exceeds(in CollectionLimits limits, in Entry parts, long count) =>
        count > limits.EntriesMax || parts.KeyBytes > limits.ValueBytesMax;

    // Null if the packed form is too small: then it is chunked by now, or memory is short.
    private static PutResult? TryPutPacked(ref RecordEdit edit, in Entry parts, in Entry found, in CollectionLimits limits)
    {
        int bytes = (int)Math.Min(Entry.BytesOf(EntryForm.Scored, parts), int.MaxValue);
        bool isNew = !edit.Exists;
        if (isNew)
        {
            byte* empty = edit.Create(RecordKind.SortedSet, Root.PackedBytes);
            if (empty == null)
                return PutResult.Failed;
            *empty = 0;
            Root.SetPackedCount(empty, 0);
            edit.Close();
        }

        bool exists = found.Start != null;
        int count = Root.PackedCount(edit.Value) + (exists ? 0 : 1);
        long total = (long)edit.ValueBytes + bytes - found.Bytes;
        if (total > Math.Min(limits.PackedBytesMax * PackedTimes, EncodingSettings.PackedBytesLimit)
            || count > CollectionLimits.PackedEntriesMax)
        {
            if (TryUnpack(ref edit, bytes))
                return null;
            if (isNew)
                edit.Remove();
            return PutResult.Failed;
        }

        int oldOffset = exists ? (int)(found.Start - edit.Value) : edit.ValueBytes, oldBytes = found.Bytes, valueBytes = edit.ValueBytes;
        byte* value = edit.Write(Math.Max((int)total, valueBytes));
        if (value == null)
        {
            if (isNew)
                edit.Remove();
            return PutResult.Failed;
        }

        int tail = valueBytes - oldOffset - oldBytes;
        Buffer.MemoryCopy(value + oldOffset + oldBytes, value + oldOffset, tail, tail); // the old one out
        InsertInOrder(value, valueBytes - oldBytes, parts, bytes);
        Root.SetPackedCount(value, count);
        if (Exceeds(limits, parts, count))
            *value |= (byte)RootFlags.Converted;
        edit.Close((int)total);
        return exists ? PutResult.Replaced : PutResult.Added;
    }

    private static void InsertInOrder(byte* value, int valueBytes, in Entry parts, int bytes)
    {
        byte* end = value + valueBytes;
        byte* at = PassBelow(value + Root.PackedBytes, end, SortBound.Of(parts.Score, parts.Key, parts.KeyBytes), out _);
        Buffer.MemoryCopy(at, at + bytes, end - at, end - at);
        Entry.Write(EntryForm.Scored, at, parts);
    }

    // The first packed entry that does not lie below, or the end; and how many do.
    private static byte* PassBelow(byte* at, byte* end, in SortBound bound, out long below)
    {
        for (below = 0; at < end; below++)
        {
            byte* next = Entry.Measure(EntryForm.Scored, at, end, out byte* key, out uint keyBytes, out _);
            if (next == null || !bound.IsAbove(Unsafe.ReadUnaligned<double>(key + keyBytes), new ReadOnlySpan<byte>(key, (int)keyBytes)))
                break;
            at = next;
        }

        return at;
    }

    // The first page of a chunked sorted set, for that many elements.
    private static SequencePage BeginOrder(ref RecordEdit edit, int capacity, int count)
    {
        byte* at = edit.WriteChunk(RootLimit.SecondSet, capacity, force: true);
        byte* root = at == null ? null : edit.Write(PageDirectory.FirstRootBytes, force: true);
        Garnet.Common.Faults.Check.That(root != null, "store.E4 small records can be made while there is address space");
        PageDirectory.Begin(root, 1, count);
        edit.Close();
        return SequencePage.Clear(at, capacity, 0, SequenceKind.Sorted);
    }

    private static bool TryUnpack(ref RecordEdit edit, int moreBytes)
    {
        int count = Root.PackedCount(edit.Value), bytes = edit.ValueBytes - Root.PackedBytes;
        byte* copy = stackalloc byte[bytes + 64];
        Buffer.MemoryCopy(edit.Value + Root.PackedBytes, copy, bytes, bytes);
        if (!ChunkedMembers.Unpack(ref edit, EntryForm.Scored, moreBytes))
            return false;
        int capacity = (int)Math.Min(SequencePage.HeaderBytes + SparseIndex.Bytes + (bytes * 2L) + (count * 4L) + 256, Store.ValueBytesMax);
        SequencePage page = BeginOrder(ref edit, capacity, count);
        for (byte* from = copy; Entry.TryRead(EntryForm.Scored, from, copy + bytes, out Entry entry); from += entry.Bytes)
            SequencePage.Write(page.TryOpen(page.End, (int)SequencePage.BytesOf(entry.KeyBytes + 8)), entry.ValueSpan, entry.KeySpan);
        page.SetSigns();
        if (count > 0)
            SortedOrder.Resort(ref edit, new PageSpot(0, 0, RootLimit.SecondSet));
        for (byte* from = copy; Entry.TryRead(EntryForm.Scored, from, copy + bytes, out Entry entry); from += entry.Bytes)
        {
            if (entry.ExpireAtMs != 0)
                Garnet.Common.Faults.Check.That(SortedTimes.TryAdd(ref edit, entry.Key, entry.KeyBytes, entry.ExpireAtMs, force: true),
                    "store.E4 small records can be made while there is address space");
        }

        return true;
    }
}
