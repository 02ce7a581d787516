using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// Elements in order over chunks, the pages: a <see cref="PageDirectory"/> says which follows which. A list is this; a sorted set has one
/// beside its <see cref="ChunkedMembers"/>. The numbers of its chunks are of the second set.
/// collections.Q1: no page in use is empty.
/// collections.Q2: the counts of all pages sum to the root's.
/// </summary>
public static unsafe class Sequence
{
    /// <summary>Bytes of a page in the order of a sorted set, if its elements are small.</summary>
    public const int SortedPageBytes = 2048;

    /// <summary>Bytes of a page of a list that is full.</summary>
    public const int ListPageBytes = 4096;
    private const int SignInterval = 32;

    /// <summary>A page to look at, by its chunk.</summary>
    public static SequencePage Open(ref RecordEdit edit, uint number)
    {
        byte* at = edit.Chunk(number, out int bytes);
        Garnet.Common.Faults.Check.That(at != null, "collections.Q1 every page of the directory is there");
        return new SequencePage(at, bytes);
    }

    /// <summary>The place before the element with that index (counted over all pages), or behind the last one.</summary>
    public static SequencePlace Seek(ref RecordEdit edit, long index)
    {
        PageSpot page = PageDirectory.Seek(ref edit, ref index);
        return SeekIn(Open(ref edit, page.Number), page, (int)index);
    }

    /// <summary>The place in a page before the element with that index there.</summary>
    public static SequencePlace SeekIn(SequencePage page, in PageSpot spot, int index)
    {
        byte* at;
        if (index > page.Count / 2)
        {
            at = page.End;
            for (int i = page.Count; i > index; i--)
                at = SequencePage.Before(at);
        }
        else
        {
            at = page.First;
            for (int i = 0; i < index; i++)
                at = SequencePage.Read(at, out _, out _);
        }

        return new SequencePlace { Page = spot, Index = index, Offset = (int)(at - page.At) };
    }

    /// <summary>Turns what lies between two places of memory into the first page of a sequence; the record has an owner by now.</summary>
    public static bool TryBegin(ref RecordEdit edit, byte* from, byte* to, int elements)
    {
        int capacity = (int)Math.Min(Math.Max((to - from) * 2, 256) + SequencePage.HeaderBytes, Store.ValueBytesMax);
        byte* at = edit.WriteChunk(RootLimit.SecondSet, capacity);
        if (at == null)
            return false;
        SequencePage.Clear(at, capacity, 0, SequenceKind.List).Append(from, to, elements);
        return true;
    }

    /// <summary>
    /// Puts an element of two parts before a place, which becomes its own. The root's count is settled if the sequence is what counts.
    /// If a page was added, which may be so without memory for the element too, spots of pages are other ones now.
    /// </summary>
    public static bool TryInsert(ref RecordEdit edit, ref SequencePlace place, ReadOnlySpan<byte> head, ReadOnlySpan<byte> body,
        SequenceKind kind, out bool addsPage)
    {
        addsPage = false;
        int bytes = (int)SequencePage.BytesOf(head.Length + body.Length);
        if (!TryOpenToWrite(ref edit, place.Page.Number, out SequencePage page))
            return false;
        byte* gap = page.TryOpen(page.At + place.Offset, bytes);
        if (gap == null && !TryMakeRoom(ref edit, ref place, ref page, bytes, kind, out addsPage))
            return false;
        if (gap == null)
            gap = page.TryOpen(page.At + place.Offset, bytes);
        SequencePage.Write(gap, head, body);
        if (kind == SequenceKind.Sorted && page.Count % SignInterval == 0)
            page.SetSigns(); // a page that grows at its end would leave them behind
        Settle(ref edit, place.Page, page, kind == SequenceKind.List ? 1 : 0, bytes);
        return true;
    }

    /// <summary>How large a page is made for elements of so many bytes: an eighth of that is added, to grow into.</summary>
    public static int CapacityFor(SequenceKind kind, long elementBytes)
    {
        long content = SequencePage.HeadOf(kind, (int)Math.Min(elementBytes, int.MaxValue)) + elementBytes;
        return WithRoom(content, content / 8);
    }

    /// <summary>Puts the first element into a sequence without pages.</summary>
    public static bool TryStart(ref RecordEdit edit, ReadOnlySpan<byte> element)
    {
        int bytes = (int)SequencePage.BytesOf(element.Length);
        PageSpot first = default;
        if (!TryAddPage(ref edit, ref first, Math.Max(ListPageBytes / 4, bytes + SequencePage.HeaderBytes), atBack: false,
            SequenceKind.List, out SequencePage page))
            return false;
        SequencePage.Write(page.TryOpen(page.First, bytes), default, element);
        Settle(ref edit, first, page, 1, bytes);
        return true;
    }

    /// <summary>
    /// Removes so many elements of one page from a place on; an empty page goes. The root's count is settled if the sequence is what
    /// counts. False if there was no memory to move the page.
    /// </summary>
    public static bool TryRemove(ref RecordEdit edit, in SequencePlace place, int elements, SequenceKind kind)
    {
        int counted = kind == SequenceKind.List ? elements : 0;
        if (elements == Open(ref edit, place.Page.Number).Count)
        {
            RemovePage(ref edit, place.Page, counted);
            return true;
        }

        if (!TryOpenToWrite(ref edit, place.Page.Number, out SequencePage page))
            return false;
        byte* from = page.At + place.Offset, to = from;
        for (int i = 0; i < elements; i++)
            to = SequencePage.Read(to, out _, out _);
        page.Cut(from, to, elements);
        Settle(ref edit, place.Page, page, -counted);
        return true;
    }

    public static bool TryOpenToWrite(ref RecordEdit edit, uint number, out SequencePage opened)
    {
        byte* at = edit.OpenChunk(number, out int bytes);
        opened = new SequencePage(at, bytes);
        return at != null;
    }

    private static void RemovePage(ref RecordEdit edit, in PageSpot at, int counted)
    {
        edit.RemoveChunk(at.Number);
        byte* root = PageDirectory.Remove(ref edit, at);
        Root.SetChunkedCount(root, Root.ChunkedCount(root) - counted);
        edit.Close();
    }

    private static void Settle(ref RecordEdit edit, in PageSpot page, SequencePage content, int added = 0, int bytes = 0)
    {
        byte* root = PageDirectory.SetCount(ref edit, page, content.Count);
        if (added != 0)
        {
            Root.SetChunkedCount(root, Root.ChunkedCount(root) + added);
            Root.SetEntryBytes(root, Root.EntryBytes(root) + bytes);
        }

        edit.Close();
    }

    // A page at an end of the sequence gets a neighbour; any other grows up to the usual size and is divided then. The first page of
    // a sorted set is empty when its first element comes: that may be longer than a page, and is to lie there (collections.Q1).
    private static bool TryMakeRoom(ref RecordEdit edit, ref SequencePlace place, ref SequencePage page, int bytes, SequenceKind kind,
        out bool addsPage)
    {
        addsPage = false;
        if (page.Count == 0 || page.Used + bytes <= (kind == SequenceKind.List ? ListPageBytes : SortedPageBytes))
            return TryGrow(ref edit, ref place, ref page, bytes, kind);
        PageSpot next = place.Page;
        bool atEnd = place.Index == page.Count && !PageDirectory.TryNext(ref edit, ref next);
        if (atEnd || (place.Index == 0 && place.Page.IsFirst))
            return addsPage = TryAddNeighbour(ref edit, atEnd, ref place, ref page, bytes, kind);
        return page.Count > 1
            ? TryDivide(ref edit, ref place, ref page, bytes, kind, out addsPage)
            : TryGrow(ref edit, ref place, ref page, bytes, kind);
    }

    private static bool TryAddNeighbour(ref RecordEdit edit, bool atEnd, ref SequencePlace place, ref SequencePage page, int bytes,
        SequenceKind kind)
    {
        PageSpot at = atEnd ? place.Page with { Slot = place.Page.Slot + 1 } : default;
        int capacity = Math.Max(kind == SequenceKind.List ? ListPageBytes : SortedPageBytes, bytes + SequencePage.HeadOf(kind, bytes));
        if (!TryAddPage(ref edit, ref at, capacity, atBack: !atEnd, kind, out page))
            return false;
        place = new SequencePlace { Page = at, Index = 0, Offset = (int)(page.First - page.At) };
        return true;
    }

    private static bool TryGrow(ref RecordEdit edit, ref SequencePlace place, ref SequencePage page, int bytes, SequenceKind kind)
    {
        int capacity = CapacityFor(kind, page.Used + (long)bytes);
        byte* fresh = edit.BeginReplace(place.Page.Number, capacity, out _);
        if (fresh == null)
            return false;
        SequencePage grown = SequencePage.Clear(fresh, capacity, 0, kind);
        grown.Append(page.First, page.End, page.Count);
        place.Offset += (int)(grown.First - grown.At) - (int)(page.First - page.At);
        edit.EndReplace();
        page = grown;
        return true;
    }

    // Bytes of a page: some more than the content has, as far as there can be. What cannot be is asked for, and refused (TooLarge).
    private static int WithRoom(long content, long more) =>
        (int)Math.Min(Math.Max(content, Math.Min((content + more + 64 + 7) & ~7L, Store.ValueBytesMax)), int.MaxValue);

    // The second half goes to a new page behind; each half gets an eighth of room.
    private static bool TryDivide(ref RecordEdit edit, ref SequencePlace place, ref SequencePage page, int bytes, SequenceKind kind,
        out bool addsPage)
    {
        int kept = 0;
        byte* middle = page.First;
        for (; kept < page.Count - 1 && (kept == 0 || middle - page.First < page.Used / 2); kept++)
            middle = SequencePage.Read(middle, out _, out _);
        int moved = (int)(page.End - middle), split = (int)(middle - page.At), movedCount = page.Count - kept;
        long content = SequencePage.HeadOf(kind, moved + bytes) + (long)moved + bytes;
        int capacity = WithRoom(content, ((long)moved + bytes) / 8);
        PageSpot behind = place.Page with { Slot = place.Page.Slot + 1 };
        addsPage = TryAddPage(ref edit, ref behind, capacity, atBack: false, kind, out SequencePage right);
        if (!addsPage)
            return false;
        PageSpot before = behind;
        PageDirectory.TryPrevious(ref edit, ref before);
        place.Page = before;
        page = Open(ref edit, before.Number);
        right.Append(page.At + split, page.End, movedCount);
        page.Cut(page.At + split, page.End, movedCount);
        Settle(ref edit, before, page);
        Settle(ref edit, behind, right);
        if (place.Index < kept || (place.Index == kept && place.Offset < split))
            return page.Free >= bytes || TryGrow(ref edit, ref place, ref page, bytes, kind);
        place = new SequencePlace
        {
            Page = behind,
            Index = place.Index - kept,
            Offset = (int)(right.First - right.At) + place.Offset - split,
        };
        page = right;
        return true;
    }

    // Before a spot, which becomes its own. The caller puts elements into it before anything else happens (collections.Q1).
    private static bool TryAddPage(ref RecordEdit edit, ref PageSpot at, int capacity, bool atBack, SequenceKind kind,
        out SequencePage added)
    {
        added = default;
        if (!PageDirectory.TryReserve(ref edit, ref at))
            return false;
        byte* chunk = edit.WriteChunk(at.Number, capacity);
        if (chunk == null)
        {
            PageDirectory.Release(ref edit, at);
            return false;
        }

        added = SequencePage.Clear(chunk, capacity, atBack ? capacity - SequencePage.HeadOf(kind, capacity) : 0, kind);
        PageDirectory.Insert(ref edit, at);
        return true;
    }
}
