using System.Runtime.CompilerServices;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Soundness;

/// <summary>Lists, packed or a <see cref="Sequence"/>, and the order of sorted sets.</summary>
public static unsafe class SequenceCheck
{
    private const uint PlaceMax = 1u << 29;

    /// <summary>Elements behind a packed list's header.</summary>
    public static bool IsPacked(byte* value, int bytes)
    {
        if (bytes is < Root.PackedBytes or > EncodingSettings.PackedBytesLimit || (Root.Flags(value) & ~RootFlags.Converted) != 0)
            return false;
        SequenceTally tally = default;
        int count = Root.PackedCount(value);
        return count > 0 && AreElements(value + Root.PackedBytes, value + bytes, count, ref tally);
    }

    /// <summary>A list in chunks.</summary>
    public static bool IsChunked(ref RecordEdit edit, ref uint limit)
    {
        SequenceTally tally = default;
        return edit.ValueBytes >= PageDirectory.FirstRootBytes
            && (Root.Flags(edit.Value) & ~(RootFlags.Converted | RootFlags.Branched)) == RootFlags.Chunked
            && IsDirectory(ref edit, ref limit, ref tally) && tally.Count == Root.ChunkedCount(edit.Value);
    }

    /// <summary>The directory in a root, its branches and all pages (collections.Q1 to collections.Q3); no chunk stands in it twice.</summary>
    public static bool IsDirectory(ref RecordEdit edit, ref uint limit, ref SequenceTally tally)
    {
        int known = (edit.ValueBytes - Root.ChunkedBytes) / sizeof(PageSlot), used = Root.Slots(edit.Value);
        if (used < 1 || used > known)
            return false;
        NumberList.Begin();
        PageSlot* slots = PageDirectory.SlotsOf(edit.Value);
        bool isSound = PageDirectory.IsBranched(ref edit)
            ? AreBranches(ref edit, slots, (used, known), ref limit, ref tally)
            : ArePages(ref edit, slots, (used, known), ref limit, ref tally);
        return isSound && NumberList.AreDistinct();
    }

    private static bool AreBranches(ref RecordEdit edit, PageSlot* branches, (int Used, int Known) slots, ref uint limit,
        ref SequenceTally tally)
    {
        for (int i = 0; i < slots.Known; i++)
        {
            if (!TryNote(branches[i].Number, ref limit))
                return false;
            byte* at = edit.Chunk(branches[i].Number, out int bytes);
            if (at == null && i >= slots.Used)
                continue; // it was to be made and there was no memory
            if (at == null || bytes < PageDirectory.BranchBytes)
                return false;
            (int Used, int Known) pages = (PageDirectory.Used(at), PageDirectory.Known(at));
            if (pages.Used < 0 || pages.Used > pages.Known || pages.Known > PageDirectory.BranchPagesMax
                || pages.Used > 0 != i < slots.Used)
                return false;
            long before = tally.Count;
            PageSlot* first = PageDirectory.SlotsIn(at);
            if (!ArePages(ref edit, first, pages, ref limit, ref tally))
                return false;
            if (i < slots.Used
                && (branches[i].Count != tally.Count - before || (tally.Kind == SequenceKind.Sorted && branches[i].Sort != first->Sort)))
                return false;
        }

        return true;
    }

    private static bool ArePages(ref RecordEdit edit, PageSlot* pages, (int Used, int Known) slots, ref uint limit, ref SequenceTally tally)
    {
        for (int i = 0; i < slots.Known; i++)
        {
            if (!TryNote(pages[i].Number, ref limit))
                return false;
            if (i >= slots.Used)
                continue;
            byte* at = edit.Chunk(pages[i].Number, out int bytes);
            if (at == null || !IsPage(at, bytes, ref tally) || pages[i].Count != new SequencePage(at, bytes).Count)
                return false;
            if (tally.Kind == SequenceKind.Sorted && pages[i].Sort != tally.FirstScore) // sortedsets.Z2
                return false;
        }

        return true;
    }

    private static bool TryNote(uint number, ref uint limit)
    {
        uint place = number & ~RootLimit.SecondSet;
        if (place == number || place >= PlaceMax)
            return false;
        limit = Math.Max(limit, place + 1);
        NumberList.Add(place);
        return true;
    }

    private static bool IsPage(byte* at, int bytes, ref SequenceTally tally)
    {
        var page = new SequencePage(at, bytes);
        if (bytes < SequencePage.HeaderBytes || page.Count <= 0 || *(uint*)(at + 12) > (tally.Kind == SequenceKind.Sorted ? 1u : 0))
            return false;
        int first = *(int*)(at + 4), end = *(int*)(at + 8);
        if (first < page.Head || first > end || end > bytes || (page.HasSigns && bytes >= SparseIndex.PageBytesMax))
            return false;
        return AreElements(page.First, page.End, page.Count, ref tally) && (!page.HasSigns || AreSigns(page));
    }

    // That many, one behind the other up to the end.
    private static bool AreElements(byte* at, byte* end, int count, ref SequenceTally tally)
    {
        byte* first = at;
        for (int i = 0; i < count; i++)
        {
            if (!TryElement(ref at, end, out byte* element, out int length))
                return false;
            if (tally.Kind == SequenceKind.List)
                continue;
            if (length < Entry.ScoreBytes)
                return false;
            double score = Unsafe.ReadUnaligned<double>(element);
            byte* member = element + Entry.ScoreBytes;
            int memberBytes = length - (int)Entry.ScoreBytes;
            if (!tally.Ascent.TryRise(score, member, memberBytes))
                return false;
            tally.Scores += KeyedSum.Of(member, memberBytes, score);
            if (i == 0)
                tally.FirstScore = score;
        }

        tally.Count += count;
        return at == end && first != end;
    }

    // Whole before the end, its length the same from either side and in as few bytes as it takes.
    private static bool TryElement(ref byte* at, byte* end, out byte* element, out int length)
    {
        byte* start = at;
        bool isWhole = VarInt.TryRead(ref at, end, out uint size) && size <= end - at && size <= Store.ElementBytesMax
            && at - start == VarInt.BytesOf(size);
        element = at;
        length = (int)size;
        if (!isWhole)
            return false;
        at += size;
        uint bytes = (uint)(at - start);
        int digits = VarInt.BytesOf(bytes);
        if (digits > end - at)
            return false;
        for (int i = digits - 1; i >= 0; i--, bytes >>= 7)
        {
            if (at[i] != (byte)((bytes & 0x7F) | (i > 0 ? 0x80u : 0u)))
                return false;
        }

        at += digits;
        return true;
    }

    // collections.K1; the elements have been found to be sound.
    private static bool AreSigns(in SequencePage page)
    {
        int post = 0;
        byte* at = page.First;
        for (int index = 0; index < page.Count && post < SparseIndex.Posts; index++)
        {
            byte* next = SequencePage.Read(at, out byte* element, out _);
            for (; post < SparseIndex.Posts && page.Signs[post].Place == at - page.At; post++)
            {
                if (page.Signs[post].Before != index || page.Signs[post].Score != Unsafe.ReadUnaligned<double>(element))
                    return false;
            }

            at = next;
        }

        for (; post < SparseIndex.Posts; post++)
        {
            if (page.Signs[post].Place != page.End - page.At || page.Signs[post].Before != page.Count
                || !double.IsPositiveInfinity(page.Signs[post].Score))
                return false;
        }

        return true;
    }
}
