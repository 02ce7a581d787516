using System.Runtime.CompilerServices;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Types.SortedSets;

/// <summary>
/// A sorted set in either form. Packed: entries in the order of score and member. Chunked: <see cref="ChunkedMembers"/> from member
/// to score and expiry, and beside it a <see cref="Sequence"/> whose elements are score (8 bytes) and member, in order; its directory
/// sorts by each page's first score. If members have an expiry, also <see cref="SortedTimes"/>.
/// Z1: both parts hold the same members with the same scores.
/// Z2: a page's sort number is the score of its first element.
/// </summary>
internal static unsafe class SortedForm
{
    /// <summary>The score of a member that is there and not due.</summary>
    internal static bool Find(ref RecordEdit edit, byte* member, int bytes, out double score)
    {
        bool found = Members.Find(ref edit, EntryForm.Scored, member, bytes, out Entry entry) && !entry.IsDue(edit.NowMs);
        score = found ? entry.Score : 0;
        return found;
    }

    /// <summary>Gives a member a score and an expiry, of which one differs from what it has, if it is there. The parts lie elsewhere.</summary>
    internal static PutResult Put(ref RecordEdit edit, in Entry parts, in CollectionLimits limits)
    {
        PutResult? packed = edit.Exists && Root.IsChunked(edit.Value) ? null : TryPutPacked(ref edit, parts, limits);
        PutResult put = packed ?? PutChunked(ref edit, parts, limits);
        if (parts.ExpireAtMs != 0 && put != PutResult.Failed)
            Root.Raise(ref edit, RootFlags.Expiring);
        return put;
    }

    /// <summary>Removes a member; with the last one goes the record.</summary>
    internal static bool Remove(ref RecordEdit edit, byte* member, int bytes)
    {
        if (!Members.Find(ref edit, EntryForm.Scored, member, bytes, out Entry entry))
            return false;
        if (Root.IsChunked(edit.Value) && Root.ChunkedCount(edit.Value) > 1)
        {
            long expireAtMs = entry.ExpireAtMs;
            Unlist(ref edit, entry.Score, member, bytes);
            if (expireAtMs != 0)
                SortedTimes.Remove(ref edit, member, bytes, expireAtMs);
        }

        return Members.Remove(ref edit, EntryForm.Scored, member, bytes);
    }

    /// <summary>How many elements lie below the bound, of those that are shown.</summary>
    internal static long CountBelow(ref RecordEdit edit, in SortBound bound, in HiddenRanks hidden) => hidden.Shown(CountBelow(ref edit, bound));

    /// <summary>How many elements lie below the bound, of all.</summary>
    internal static long CountBelow(ref RecordEdit edit, in SortBound bound)
    {
        if (bound.Kind is BoundKind.Nothing or BoundKind.Everything)
            return bound.Kind == BoundKind.Nothing ? 0 : Root.Count(edit.Value);
        if (!Root.IsChunked(edit.Value))
        {
            long below = 0;
            for (var walk = default(MemberWalk); walk.Next(ref edit, EntryForm.Scored) && bound.IsAbove(walk.Current.Score, walk.Current.KeySpan);)
                below++;
            return below;
        }

        SequencePlace place = PlaceOf(ref edit, bound);
        long count = place.Index;
        for (int page = 0; page < place.Page; page++)
            count += Sequence.CountOf(edit.Value, page);
        return count;
    }

    // The place that the bound means: the first page of which the next one's first element lies above it, then by walking.
    private static SequencePlace PlaceOf(ref RecordEdit edit, in SortBound bound)
    {
        int low = 0, high = Sequence.PagesOf(ref edit) - 1;
        while (low < high)
        {
            int middle = (low + high + 1) / 2;
            if (BeginsBelow(ref edit, middle, bound))
                low = middle;
            else
                high = middle - 1;
        }

        SequencePage page = Sequence.Open(ref edit, low);
        var place = new SequencePlace { Page = low };
        bool byScore = bound.Kind is BoundKind.Element or BoundKind.Score;
        byte* at = page.First;
        while (at != page.End)
        {
            byte* next = SequencePage.Read(at, out byte* element, out int length);
            double score = Unsafe.ReadUnaligned<double>(element);
            // Most are decided by the score alone (CollectionCost).
            if (!(byScore && score < bound.Score) && !bound.IsAbove(score, new ReadOnlySpan<byte>(element + 8, length - 8)))
                break;
            at = next;
            place.Index++;
        }

        place.Offset = (int)(at - page.At);
        return place;
    }

    private static bool BeginsBelow(ref RecordEdit edit, int page, in SortBound bound)
    {
        double sort = Sequence.SortOf(edit.Value, page);
        if (bound.Kind == BoundKind.Score || (bound.Kind == BoundKind.Element && sort != bound.Score))
            return bound.IsAbove(sort, default);
        SequencePage.Read(Sequence.Open(ref edit, page).First, out byte* element, out int length);
        return bound.IsAbove(sort, new ReadOnlySpan<byte>(element + 8, length - 8));
    }

    private static PutResult PutChunked(ref RecordEdit edit, in Entry parts, in CollectionLimits limits)
    {
        bool isUpdate = Members.Find(ref edit, EntryForm.Scored, parts.Key, parts.KeyBytes, out Entry entry);
        double old = isUpdate ? entry.Score : 0;
        long oldExpiry = entry.ExpireAtMs;
        bool moves = !isUpdate || old != parts.Score, isTimed = parts.ExpireAtMs != 0 && parts.ExpireAtMs != oldExpiry;
        if (isTimed && !SortedTimes.TryAdd(ref edit, parts.Key, parts.KeyBytes, parts.ExpireAtMs))
            return PutResult.Failed;
        bool isListed = !moves || TryList(ref edit, parts);
        PutResult put = isListed ? ChunkedMembers.Put(ref edit, EntryForm.Scored, parts, Names(limits)) : PutResult.Failed;
        if (put != PutResult.Failed)
        {
            if (isUpdate && moves)
                Unlist(ref edit, old, parts.Key, parts.KeyBytes);
            if (oldExpiry != 0 && oldExpiry != parts.ExpireAtMs)
                SortedTimes.Remove(ref edit, parts.Key, parts.KeyBytes, oldExpiry);
            return put;
        }

        if (moves && isListed)
            Unlist(ref edit, parts.Score, parts.Key, parts.KeyBytes);
        if (isTimed)
            SortedTimes.Remove(ref edit, parts.Key, parts.KeyBytes, parts.ExpireAtMs);
        return PutResult.Failed;
    }

    private static bool TryList(ref RecordEdit edit, in Entry parts)
    {
        SequencePlace place = PlaceOf(ref edit, SortBound.Of(parts.Score, parts.Key, parts.KeyBytes));
        int pages = Sequence.PagesOf(ref edit), page = place.Page, index = place.Index;
        if (!Sequence.TryInsert(ref edit, ref place, parts.ValueSpan, parts.KeySpan, SequenceKind.Sorted))
            return false;
        if (index == 0 || pages != Sequence.PagesOf(ref edit))
            Resort(ref edit, page);
        return true;
    }

    private static void Unlist(ref RecordEdit edit, double score, byte* member, int bytes)
    {
        SequencePlace place = PlaceOf(ref edit, SortBound.Of(score, member, bytes));
        // Behind the last of a page is before the first of the next.
        if (place.Index == Sequence.CountOf(edit.Value, place.Page))
            place = new SequencePlace { Page = place.Page + 1, Offset = FirstOffset(ref edit, place.Page + 1) };
        bool emptied = Sequence.CountOf(edit.Value, place.Page) == 1;
        Garnet.Common.Faults.Check.That(Sequence.TryRemove(ref edit, place, 1), "E4 a page can be moved");
        if (!emptied && place.Index == 0)
            Resort(ref edit, place.Page);
    }

    private static int FirstOffset(ref RecordEdit edit, int page)
    {
        SequencePage first = Sequence.Open(ref edit, page);
        return (int)(first.First - first.At);
    }

    // Z2, for a page whose content has changed and for its neighbours, which an insertion may have made or begun.
    private static void Resort(ref RecordEdit edit, int page)
    {
        int last = Math.Min(page + 2, Sequence.PagesOf(ref edit) - 1);
        for (int i = page; i <= last; i++)
        {
            SequencePage.Read(Sequence.Open(ref edit, i).First, out byte* element, out _);
            double sort = Unsafe.ReadUnaligned<double>(element);
            if (BitConverter.DoubleToInt64Bits(sort) != BitConverter.DoubleToInt64Bits(Sequence.SortOf(edit.Value, i)))
                Sequence.SetSort(ref edit, i, sort);
        }
    }

    // The eight bytes of a score are no value that could be too long.
    private static CollectionLimits Names(in CollectionLimits limits) => limits with { ValueBytesMax = Math.Max(limits.ValueBytesMax, Entry.ScoreBytes) };

    private static bool Exceeds(in CollectionLimits limits, in Entry parts, long count) => count > limits.EntriesMax || parts.KeyBytes > limits.ValueBytesMax;

    // Null if the packed form is too small: then it is chunked by now, or memory is short.
    private static PutResult? TryPutPacked(ref RecordEdit edit, in Entry parts, in CollectionLimits limits)
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

        bool exists = PackedMembers.Find(edit.Value, edit.ValueBytes, EntryForm.Scored, parts.KeySpan, out Entry old);
        int count = Root.PackedCount(edit.Value) + (exists ? 0 : 1);
        long total = (long)edit.ValueBytes + bytes - old.Bytes;
        if (total > limits.PackedBytesMax || count > CollectionLimits.PackedEntriesMax)
        {
            if (TryUnpack(ref edit, bytes))
                return null;
            if (isNew)
                edit.Remove();
            return PutResult.Failed;
        }

        int oldOffset = exists ? (int)(old.Start - edit.Value) : edit.ValueBytes, oldBytes = old.Bytes, valueBytes = edit.ValueBytes;
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
        edit.Close();
        if (total < valueBytes)
            PackedMembers.Cut(ref edit, (int)total);
        return exists ? PutResult.Replaced : PutResult.Added;
    }

    private static void InsertInOrder(byte* value, int valueBytes, in Entry parts, int bytes)
    {
        byte* at = value + Root.PackedBytes, end = value + valueBytes;
        SortBound bound = SortBound.Of(parts.Score, parts.Key, parts.KeyBytes);
        while (at < end && Entry.TryRead(EntryForm.Scored, at, end, out Entry entry) && bound.IsAbove(entry.Score, entry.KeySpan))
            at += entry.Bytes;
        Buffer.MemoryCopy(at, at + bytes, end - at, end - at);
        Entry.Write(EntryForm.Scored, at, parts);
    }

    private static bool TryUnpack(ref RecordEdit edit, int moreBytes)
    {
        int count = Root.PackedCount(edit.Value), bytes = edit.ValueBytes - Root.PackedBytes;
        byte* copy = stackalloc byte[bytes + 64];
        Buffer.MemoryCopy(edit.Value + Root.PackedBytes, copy, bytes, bytes);
        if (!ChunkedMembers.Unpack(ref edit, EntryForm.Scored, moreBytes))
            return false;
        int capacity = SequencePage.HeaderBytes + (bytes * 2) + (count * 4) + 256;
        byte* at = edit.WriteChunk(RecordEdit.SecondSet, capacity, force: true);
        byte* root = at == null ? null : edit.Write(Sequence.FirstRootBytes, force: true);
        Garnet.Common.Faults.Check.That(root != null, "E4 small records can be made while there is address space");
        Sequence.WriteFirstSlot(root, count, 0);
        edit.Close();
        SequencePage page = SequencePage.Clear(at, capacity, 0);
        for (byte* from = copy; Entry.TryRead(EntryForm.Scored, from, copy + bytes, out Entry entry); from += entry.Bytes)
            SequencePage.Write(page.TryOpen(page.End, (int)SequencePage.BytesOf(entry.KeyBytes + 8)), entry.ValueSpan, entry.KeySpan);
        if (count > 0)
            Resort(ref edit, 0);
        for (byte* from = copy; Entry.TryRead(EntryForm.Scored, from, copy + bytes, out Entry entry); from += entry.Bytes)
        {
            if (entry.ExpireAtMs != 0)
                Garnet.Common.Faults.Check.That(SortedTimes.TryAdd(ref edit, entry.Key, entry.KeyBytes, entry.ExpireAtMs, force: true), "E4 small records can be made while there is address space");
        }

        return true;
    }
}
