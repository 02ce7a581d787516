using System.Runtime.CompilerServices;
using Tsavorite;

namespace Garnet.Server.Types.Collections;

/// <summary>What a sequence is part of.</summary>
internal enum SequenceKind : byte
{
    /// <summary>A list: its elements are what the root counts.</summary>
    List,
    /// <summary>The order of a sorted set, whose members are counted elsewhere. Smaller pages: they are searched.</summary>
    Sorted,
}

/// <summary>
/// Elements in order over chunks: a directory in the root says which chunk follows which, how many elements each has, and, for
/// ordered collections, a number its first element begins with. A list is this; a sorted set has one beside its
/// <see cref="ChunkedMembers"/>.
/// The directory: per page 0-7 sort number, 8-11 number of the chunk (in the second set of numbers), 12-15 number of elements. Behind
/// the pages in use stand numbers that were in use once: they are taken again first, so that numbers stay few.
/// Q1: no page in use is empty.
/// Q2: the counts of all pages sum to the root's.
/// </summary>
internal static unsafe class Sequence
{
    private const int SlotBytes = 16, ListPageBytes = 4096, SortedPageBytes = 2048, SignInterval = 32;

    internal static int PagesOf(ref RecordEdit edit) => Root.Pages(edit.Value);

    internal static int CountOf(byte* root, int page) => Unsafe.ReadUnaligned<int>(Slot(root, page) + 12);

    internal static double SortOf(byte* root, int page) => Unsafe.ReadUnaligned<double>(Slot(root, page));

    /// <summary>
    /// The last pages that sort below two numbers, each the first page if none does. Both are searched in step and without
    /// branches, which would be guessed wrong half the time (CollectionCost).
    /// </summary>
    internal static (int One, int Other) LastBelow(byte* root, double one, double other)
    {
        byte* slots = Slot(root, 0);
        long first = 0, second = 0;
        for (int left = Root.Pages(root); left > 1;)
        {
            int half = left >> 1;
            bool goesOn = Unsafe.ReadUnaligned<double>(slots + ((first + half) * SlotBytes)) < one;
            bool otherGoesOn = Unsafe.ReadUnaligned<double>(slots + ((second + half) * SlotBytes)) < other;
            first += half & -Unsafe.BitCast<bool, byte>(goesOn);
            second += half & -Unsafe.BitCast<bool, byte>(otherGoesOn);
            left -= half;
        }

        return ((int)first, (int)second);
    }

    /// <summary>Brings a page's beginning towards the cache.</summary>
    internal static void Prefetch(ref RecordEdit edit, int page) => edit.Prefetch(NumberOf(edit.Value, page));

    /// <summary>A page to look at.</summary>
    internal static SequencePage Open(ref RecordEdit edit, int page)
    {
        byte* at = edit.Chunk(NumberOf(edit.Value, page), out int bytes);
        Garnet.Common.Faults.Check.That(at != null, "Q1 every page of the directory is there");
        return new SequencePage(at, bytes);
    }

    /// <summary>The place before the element with that index (counted over all pages), or behind the last one.</summary>
    internal static SequencePlace Seek(ref RecordEdit edit, long index)
    {
        byte* root = edit.Value;
        int page = 0, pages = Root.Pages(root);
        long count = Root.ChunkedCount(root);
        if (index > count / 2)
        {
            long behind = count;
            for (page = pages - 1; page > 0 && behind - CountOf(root, page) > index; page--)
                behind -= CountOf(root, page);
            index -= behind - CountOf(root, page);
        }
        else
        {
            for (; page < pages - 1 && index >= CountOf(root, page); page++)
                index -= CountOf(root, page);
        }

        return SeekIn(Open(ref edit, page), page, (int)index);
    }

    /// <summary>The place in a page before the element with that index there.</summary>
    internal static SequencePlace SeekIn(SequencePage page, int number, int index)
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

        return new SequencePlace { Page = number, Index = index, Offset = (int)(at - page.At) };
    }

    /// <summary>Turns what lies between two places of memory into the first page of a sequence; the record has an owner by now.</summary>
    internal static bool TryBegin(ref RecordEdit edit, byte* from, byte* to, int elements)
    {
        int capacity = (int)Math.Max((to - from) * 2, 256) + SequencePage.HeaderBytes;
        byte* at = edit.WriteChunk(RecordEdit.SecondSet, capacity);
        if (at == null)
            return false;
        SequencePage.Clear(at, capacity, 0, SequenceKind.List).Append(from, to, elements);
        return true;
    }

    /// <summary>Writes the directory of a sequence of one page into an open root.</summary>
    internal static void WriteFirstSlot(byte* root, int elements, double sort)
    {
        Root.SetPages(root, 1);
        Root.RaiseLimit(root, RecordEdit.SecondSet);
        Unsafe.WriteUnaligned(Slot(root, 0), sort);
        Unsafe.WriteUnaligned(Slot(root, 0) + 8, RecordEdit.SecondSet);
        Unsafe.WriteUnaligned(Slot(root, 0) + 12, elements);
    }

    /// <summary>Bytes of the root of a sequence of one page.</summary>
    internal const int FirstRootBytes = Root.ChunkedBytes + SlotBytes;

    /// <summary>
    /// Puts an element of two parts before a place, which becomes its own. The root's count is settled if the sequence is what counts.
    /// </summary>
    internal static bool TryInsert(ref RecordEdit edit, ref SequencePlace place, ReadOnlySpan<byte> head, ReadOnlySpan<byte> body, SequenceKind kind)
    {
        int bytes = (int)SequencePage.BytesOf(head.Length + body.Length);
        if (!TryOpenToWrite(ref edit, place.Page, out SequencePage page))
            return false;
        byte* gap = page.TryOpen(page.At + place.Offset, bytes);
        if (gap == null && !TryMakeRoom(ref edit, ref place, ref page, bytes, kind))
            return false;
        if (gap == null)
            gap = page.TryOpen(page.At + place.Offset, bytes);
        SequencePage.Write(gap, head, body);
        if (kind == SequenceKind.Sorted && page.Count % SignInterval == 0)
            page.SetSigns(); // a page that grows at its end would leave them behind
        Settle(ref edit, place.Page, page, kind == SequenceKind.List ? 1 : 0, bytes);
        return true;
    }

    /// <summary>Puts the first element into a sequence without pages.</summary>
    internal static bool TryStart(ref RecordEdit edit, ReadOnlySpan<byte> element)
    {
        int bytes = (int)SequencePage.BytesOf(element.Length);
        if (!TryAddPage(ref edit, 0, Math.Max(ListPageBytes / 4, bytes + SequencePage.HeaderBytes), atBack: false, SequenceKind.List, out SequencePage page))
            return false;
        SequencePage.Write(page.TryOpen(page.First, bytes), default, element);
        Settle(ref edit, 0, page, 1, bytes);
        return true;
    }

    /// <summary>
    /// Removes so many elements of one page from a place on; an empty page goes. The root's count is settled if the sequence is what
    /// counts. False if there was no memory to move the page.
    /// </summary>
    internal static bool TryRemove(ref RecordEdit edit, in SequencePlace place, int elements, SequenceKind kind)
    {
        int counted = kind == SequenceKind.List ? elements : 0;
        if (elements == CountOf(edit.Value, place.Page))
        {
            RemovePage(ref edit, place.Page, counted);
            return true;
        }

        if (!TryOpenToWrite(ref edit, place.Page, out SequencePage page))
            return false;
        byte* from = page.At + place.Offset, to = from;
        for (int i = 0; i < elements; i++)
            to = SequencePage.Read(to, out _, out _);
        page.Cut(from, to, elements);
        Settle(ref edit, place.Page, page, -counted);
        return true;
    }

    /// <summary>Sets the number a page sorts by.</summary>
    internal static void SetSort(ref RecordEdit edit, int page, double sort)
    {
        byte* root = edit.Write(edit.ValueBytes, force: true);
        Garnet.Common.Faults.Check.That(root != null, "E4 a root can be moved");
        Unsafe.WriteUnaligned(Slot(root, page), sort);
        edit.Close();
    }

    private static byte* Slot(byte* root, int page) => root + Root.ChunkedBytes + (page * SlotBytes);

    private static uint NumberOf(byte* root, int page) => Unsafe.ReadUnaligned<uint>(Slot(root, page) + 8);

    internal static bool TryOpenToWrite(ref RecordEdit edit, int page, out SequencePage opened)
    {
        byte* at = edit.OpenChunk(NumberOf(edit.Value, page), out int bytes);
        opened = new SequencePage(at, bytes);
        return at != null;
    }

    private static void Settle(ref RecordEdit edit, int page, SequencePage content, int added = 0, int bytes = 0)
    {
        byte* root = edit.Write(edit.ValueBytes, force: true);
        Garnet.Common.Faults.Check.That(root != null, "E4 a root can be moved");
        Unsafe.WriteUnaligned(Slot(root, page) + 12, content.Count);
        if (added != 0)
        {
            Root.SetChunkedCount(root, Root.ChunkedCount(root) + added);
            Root.SetEntryBytes(root, Root.EntryBytes(root) + bytes);
        }

        edit.Close();
    }

    // A page at an end of the sequence gets a neighbour; any other grows up to the usual size and is divided then.
    private static bool TryMakeRoom(ref RecordEdit edit, ref SequencePlace place, ref SequencePage page, int bytes, SequenceKind kind)
    {
        int pageBytes = kind == SequenceKind.List ? ListPageBytes : SortedPageBytes;
        bool atEnd = place.Page == Root.Pages(edit.Value) - 1 && place.Index == page.Count;
        bool atFront = place.Page == 0 && place.Index == 0;
        if (page.Used + bytes > pageBytes && (atEnd || atFront))
        {
            int capacity = Math.Max(pageBytes, bytes + SequencePage.HeadOf(kind, bytes)), at = atEnd ? place.Page + 1 : 0;
            if (!TryAddPage(ref edit, at, capacity, atBack: !atEnd, kind, out page))
                return false;
            place = new SequencePlace { Page = at, Index = 0, Offset = (int)(page.First - page.At) };
            return true;
        }

        if (page.Used + bytes <= pageBytes || page.Count < 2)
            return TryGrow(ref edit, ref place, ref page, bytes, kind);
        return TryDivide(ref edit, ref place, ref page, bytes, kind);
    }

    private static bool TryGrow(ref RecordEdit edit, ref SequencePlace place, ref SequencePage page, int bytes, SequenceKind kind)
    {
        long content = SequencePage.HeadOf(kind, page.Used + bytes) + page.Used + (long)bytes;
        int capacity = (int)Math.Min((content + (content / 8) + 64 + 7) & ~7L, Store.ValueBytesMax);
        byte* fresh = edit.BeginReplace(NumberOf(edit.Value, place.Page), capacity, out _);
        if (fresh == null)
            return false;
        SequencePage grown = SequencePage.Clear(fresh, capacity, 0, kind);
        grown.Append(page.First, page.End, page.Count);
        place.Offset += (int)(grown.First - grown.At) - (int)(page.First - page.At);
        edit.EndReplace();
        page = grown;
        return true;
    }

    // The second half goes to a new page behind; each half gets an eighth of room.
    private static bool TryDivide(ref RecordEdit edit, ref SequencePlace place, ref SequencePage page, int bytes, SequenceKind kind)
    {
        int kept = 0;
        byte* middle = page.First;
        for (; kept < page.Count - 1 && (kept == 0 || middle - page.First < page.Used / 2); kept++)
            middle = SequencePage.Read(middle, out _, out _);
        int moved = (int)(page.End - middle), split = (int)(middle - page.At), movedCount = page.Count - kept;
        int capacity = SequencePage.HeadOf(kind, moved + bytes) + ((moved + bytes) * 9 / 8) + 64;
        if (!TryAddPage(ref edit, place.Page + 1, capacity, atBack: false, kind, out SequencePage right))
            return false;
        page = Open(ref edit, place.Page);
        right.Append(page.At + split, page.End, movedCount);
        page.Cut(page.At + split, page.End, movedCount);
        Settle(ref edit, place.Page, page);
        Settle(ref edit, place.Page + 1, right);
        if (place.Index < kept || (place.Index == kept && place.Offset < split))
            return page.Free >= bytes || TryGrow(ref edit, ref place, ref page, bytes, kind);
        place = new SequencePlace { Page = place.Page + 1, Index = place.Index - kept, Offset = (int)(right.First - right.At) + place.Offset - split };
        page = right;
        return true;
    }

    // The caller puts elements into it before anything else happens (Q1).
    private static bool TryAddPage(ref RecordEdit edit, int at, int capacity, bool atBack, SequenceKind kind, out SequencePage added)
    {
        byte* root = edit.Value;
        int pages = Root.Pages(root), known = (edit.ValueBytes - Root.ChunkedBytes) / SlotBytes;
        uint number = pages < known ? NumberOf(root, pages) : (uint)known | RecordEdit.SecondSet;
        byte* chunk = edit.WriteChunk(number, capacity);
        added = new SequencePage(chunk, capacity);
        if (chunk == null)
            return false;
        SequencePage.Clear(chunk, capacity, atBack ? capacity - SequencePage.HeadOf(kind, capacity) : 0, kind);
        root = edit.Write(pages < known ? edit.ValueBytes : edit.ValueBytes + SlotBytes, force: true);
        Garnet.Common.Faults.Check.That(root != null, "E4 a root can be moved");
        long tail = (pages - at) * (long)SlotBytes;
        Buffer.MemoryCopy(Slot(root, at), Slot(root, at + 1), tail, tail);
        Unsafe.WriteUnaligned(Slot(root, at), 0d);
        Unsafe.WriteUnaligned(Slot(root, at) + 8, number);
        Unsafe.WriteUnaligned(Slot(root, at) + 12, 0);
        Root.SetPages(root, pages + 1);
        Root.RaiseLimit(root, number);
        edit.Close();
        return true;
    }

    internal static void RemovePage(ref RecordEdit edit, int at, int counted = 0)
    {
        uint number = NumberOf(edit.Value, at);
        edit.RemoveChunk(number);
        byte* root = edit.Write(edit.ValueBytes, force: true);
        Garnet.Common.Faults.Check.That(root != null, "E4 a root can be moved");
        int pages = Root.Pages(root);
        long tail = (pages - at - 1) * (long)SlotBytes;
        Buffer.MemoryCopy(Slot(root, at + 1), Slot(root, at), tail, tail);
        Unsafe.WriteUnaligned(Slot(root, pages - 1) + 8, number);
        Root.SetPages(root, pages - 1);
        Root.SetChunkedCount(root, Root.ChunkedCount(root) - counted);
        edit.Close();
    }
}
