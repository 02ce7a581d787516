using System.Runtime.CompilerServices;
using Garnet.Common.Faults;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// The pages of a sequence in order, with how many elements each has: the inner nodes of a B+tree with counts. Up to 2,000 pages have
/// their slots in the root, behind its header. More have them in branches, and the root has one slot for each branch. A branch is a
/// chunk: 0-3 slots in use, 4-7 slots with a number, from 8 on the slots. Behind the slots in use, in the root as in a branch, stand
/// numbers that were in use once: they are taken again first, so that numbers stay few; a branch among them keeps those of its own.
/// collections.Q3: no branch in use is empty, and its slot has the sort number of its first page and the sum of its pages' counts.
/// </summary>
public static unsafe class PageDirectory
{
    /// <summary>Slots of a branch, and of a root without: to insert one moves half of them, 16 KB.</summary>
    public const int BranchPagesMax = 2000;

    private const int BranchHeaderBytes = 8;

    public static int BranchBytes => BranchHeaderBytes + (BranchPagesMax * sizeof(PageSlot));

    /// <summary>Bytes of the root of a sequence of one page.</summary>
    public static int FirstRootBytes => Root.ChunkedBytes + sizeof(PageSlot);

    public static bool IsEmpty(ref RecordEdit edit) => Root.Slots(edit.Value) == 0;

    public static bool IsBranched(ref RecordEdit edit) => Root.Has(edit.Value, RootFlags.Branched);

    /// <summary>The slots in use that the root has: of branches, or of pages.</summary>
    public static PageSlot* Top(ref RecordEdit edit, out int used)
    {
        used = Root.Slots(edit.Value);
        return SlotsOf(edit.Value);
    }

    /// <summary>The slots in use of the pages of a branch, or of all.</summary>
    public static PageSlot* Slots(ref RecordEdit edit, int branch, out int used)
    {
        PageSlot* slots = Top(ref edit, out used);
        if (!IsBranched(ref edit))
            return slots;
        byte* at = edit.Chunk(slots[branch].Number, out _);
        Check.That(at != null, "collections.Q3 every branch of the root is there");
        used = Used(at);
        return SlotsIn(at);
    }

    /// <summary>The number a page sorts by.</summary>
    public static double SortOf(ref RecordEdit edit, in PageSpot page) => Slots(ref edit, page.Branch, out _)[page.Slot].Sort;

    /// <summary>How many elements a page has.</summary>
    public static int CountOf(ref RecordEdit edit, in PageSpot page) => Slots(ref edit, page.Branch, out _)[page.Slot].Count;

    /// <summary>Goes to the next page; false at the last one.</summary>
    public static bool TryNext(ref RecordEdit edit, ref PageSpot page)
    {
        PageSlot* slots = Slots(ref edit, page.Branch, out int used);
        int branch = page.Branch, slot = page.Slot + 1;
        if (slot == used)
        {
            (branch, slot) = (branch + 1, 0);
            if (!IsBranched(ref edit) || branch == Root.Slots(edit.Value))
                return false;
            slots = Slots(ref edit, branch, out _);
        }

        page = new PageSpot(branch, slot, slots[slot].Number);
        return true;
    }

    /// <summary>Goes to the page before; false at the first one.</summary>
    public static bool TryPrevious(ref RecordEdit edit, ref PageSpot page)
    {
        if (page.IsFirst)
            return false;
        int branch = page.Slot == 0 ? page.Branch - 1 : page.Branch;
        PageSlot* slots = Slots(ref edit, branch, out int used);
        int slot = (branch == page.Branch ? page.Slot : used) - 1;
        page = new PageSpot(branch, slot, slots[slot].Number);
        return true;
    }

    /// <summary>A walk that goes by so many pages (1: forth, -1: back) has come to this one and is about to look at it: what has to be fetched is, with those that follow.</summary>
    public static void LookAhead(ref RecordEdit edit, in PageSpot page, int step)
    {
        if (!edit.MayLack)
            return;
        PageSlot* slots = Slots(ref edit, page.Branch, out int used);
        edit.LookAhead(&slots[page.Slot].Number, step * (sizeof(PageSlot) / sizeof(uint)), step > 0 ? used - page.Slot : page.Slot + 1);
    }

    /// <summary>The page of the element with that index, which becomes the one in the page; for the end it is behind the last page's last one.</summary>
    public static PageSpot Seek(ref RecordEdit edit, ref long index)
    {
        long count = Root.ChunkedCount(edit.Value);
        int branch = 0;
        if (IsBranched(ref edit))
        {
            PageSlot* branches = Top(ref edit, out int among);
            branch = Seek(branches, among, count, ref index);
            count = branches[branch].Count;
        }

        PageSlot* slots = Slots(ref edit, branch, out int used);
        int slot = Seek(slots, used, count, ref index);
        return new PageSpot(branch, slot, slots[slot].Number);
    }

    /// <summary>How many elements the pages before one have.</summary>
    public static long CountBefore(ref RecordEdit edit, in PageSpot page)
    {
        long branches = IsBranched(ref edit) ? Sum(SlotsOf(edit.Value), page.Branch) : 0;
        return branches + Sum(Slots(ref edit, page.Branch, out _), page.Slot);
    }

    /// <summary>The last pages that sort below two numbers, each the first page if none does.</summary>
    public static (PageSpot One, PageSpot Other) LastBelow(ref RecordEdit edit, double one, double other)
    {
        PageSlot* slots = Top(ref edit, out int used), others = slots;
        (int first, int second) = LastBelow(slots, used, one, slots, used, other);
        (int branch, int otherBranch) = (0, 0);
        if (IsBranched(ref edit))
        {
            (branch, otherBranch) = (first, second);
            slots = Slots(ref edit, branch, out used);
            others = Slots(ref edit, otherBranch, out int otherUsed);
            (first, second) = LastBelow(slots, used, one, others, otherUsed, other);
        }

        return (new PageSpot(branch, first, slots[first].Number), new PageSpot(otherBranch, second, others[second].Number));
    }

    /// <summary>Writes the directory of a sequence of one page, or none yet, into an open root.</summary>
    public static void Begin(byte* root, int pages, int elements)
    {
        Root.SetSlots(root, pages);
        Root.RaiseLimit(root, RootLimit.SecondSet);
        *SlotsOf(root) = new PageSlot { Number = RootLimit.SecondSet, Count = elements };
    }

    /// <summary>Sets how many elements a page has; the root is open then, for the caller to close.</summary>
    public static byte* SetCount(ref RecordEdit edit, in PageSpot page, int count)
    {
        bool isBranched = IsBranched(ref edit);
        int more = 0;
        if (isBranched)
        {
            PageSlot* slot = SlotsIn(OpenBranch(ref edit, page.Branch)) + page.Slot;
            more = count - slot->Count;
            slot->Count = count;
        }

        byte* root = OpenRoot(ref edit);
        if (isBranched)
            SlotsOf(root)[page.Branch].Count += more;
        else
            SlotsOf(root)[page.Slot].Count = count;
        return root;
    }

    /// <summary>Sets the number a page sorts by.</summary>
    public static void SetSort(ref RecordEdit edit, in PageSpot page, double sort)
    {
        bool isBranched = IsBranched(ref edit);
        if (isBranched)
            SlotsIn(OpenBranch(ref edit, page.Branch))[page.Slot].Sort = sort;
        if (isBranched && page.Slot > 0)
            return;
        SlotsOf(OpenRoot(ref edit))[isBranched ? page.Branch : page.Slot].Sort = sort;
        edit.Close();
    }

    /// <summary>
    /// Makes room for a page before a spot, which becomes its own; <see cref="Insert(ref RecordEdit, in PageSpot)"/> or <see cref="Release"/> follows. False if there
    /// is no memory.
    /// </summary>
    public static bool TryReserve(ref RecordEdit edit, ref PageSpot at)
    {
        if (!IsBranched(ref edit) && Root.Slots(edit.Value) == BranchPagesMax && !TryBranch(ref edit))
            return false;
        if (!IsBranched(ref edit))
        {
            at = at with { Number = NextOfRoot(ref edit) };
            return true;
        }

        Slots(ref edit, at.Branch, out int used);
        if (used == BranchPagesMax && !TrySpread(ref edit, ref at))
            return false;
        byte* branch = OpenBranch(ref edit, at.Branch);
        used = Used(branch);
        if (used == Known(branch))
        {
            uint fresh = Fresh(ref edit);
            edit.RaiseLimit(fresh);
            SlotsIn(branch)[used].Number = fresh;
            Known(branch) = used + 1;
        }

        at = at with { Number = SlotsIn(branch)[used].Number };
        return true;
    }

    /// <summary>A page comes to where room was made for it, without elements yet.</summary>
    public static void Insert(ref RecordEdit edit, in PageSpot at)
    {
        if (!IsBranched(ref edit))
        {
            InsertInRoot(ref edit, at.Slot, at.Number);
            return;
        }

        byte* branch = OpenBranch(ref edit, at.Branch);
        Insert(SlotsIn(branch), Used(branch)++, at.Slot, at.Number);
        if (at.Slot == 0)
            SetSort(ref edit, at, 0);
    }

    /// <summary>The page that room was made for does not come.</summary>
    public static void Release(ref RecordEdit edit, in PageSpot at)
    {
        Slots(ref edit, at.Branch, out int used);
        if (used > 0 || !IsBranched(ref edit))
            return;
        RemoveFromRoot(OpenRoot(ref edit), at.Branch);
        edit.Close();
    }

    /// <summary>A page and its elements go; the root is open then, for the caller to close.</summary>
    public static byte* Remove(ref RecordEdit edit, in PageSpot page)
    {
        if (!IsBranched(ref edit))
        {
            byte* flat = OpenRoot(ref edit);
            RemoveFromRoot(flat, page.Slot);
            return flat;
        }

        byte* branch = OpenBranch(ref edit, page.Branch);
        PageSlot* slots = SlotsIn(branch);
        int count = slots[page.Slot].Count;
        Remove(slots, Used(branch)--, page.Slot);
        byte* root = OpenRoot(ref edit);
        if (Used(branch) == 0)
        {
            RemoveFromRoot(root, page.Branch);
            return root;
        }

        SlotsOf(root)[page.Branch].Count -= count;
        SlotsOf(root)[page.Branch].Sort = slots->Sort;
        return root;
    }

    public static PageSlot* SlotsOf(byte* root) => (PageSlot*)(root + Root.ChunkedBytes);

    public static PageSlot* SlotsIn(byte* branch) => (PageSlot*)(branch + BranchHeaderBytes);

    public static ref int Used(byte* branch) => ref *(int*)branch;

    public static ref int Known(byte* branch) => ref *(int*)(branch + 4);

    private static byte* OpenRoot(ref RecordEdit edit)
    {
        byte* root = edit.Write(edit.ValueBytes, force: true);
        Check.That(root != null, "store.E4 a root can be moved");
        return root;
    }

    private static byte* OpenBranch(ref RecordEdit edit, int branch)
    {
        byte* at = edit.OpenChunk(SlotsOf(edit.Value)[branch].Number, out _);
        Check.That(at != null, "store.E4 a branch can be moved");
        return at;
    }

    // From the nearer end.
    private static int Seek(PageSlot* slots, int used, long count, ref long index)
    {
        int slot = 0;
        if (index <= count / 2)
        {
            for (; slot < used - 1 && index >= slots[slot].Count; slot++)
                index -= slots[slot].Count;
            return slot;
        }

        long end = count;
        for (slot = used - 1; slot > 0 && end - slots[slot].Count > index; slot--)
            end -= slots[slot].Count;
        index -= end - slots[slot].Count;
        return slot;
    }

    private static long Sum(PageSlot* slots, int used)
    {
        long sum = 0;
        for (int i = 0; i < used; i++)
            sum += slots[i].Count;
        return sum;
    }

    // Both in step and without branches, which would be guessed wrong half the time (CollectionCost).
    private static (int One, int Other) LastBelow(PageSlot* slots, int used, double one, PageSlot* others, int otherUsed, double other)
    {
        long first = 0, second = 0;
        for (int left = used, otherLeft = otherUsed; left > 1 || otherLeft > 1;)
        {
            int half = left >> 1, otherHalf = otherLeft >> 1;
            bool goesOn = slots[first + half].Sort < one, otherGoesOn = others[second + otherHalf].Sort < other;
            first += half & -Unsafe.BitCast<bool, byte>(goesOn);
            second += otherHalf & -Unsafe.BitCast<bool, byte>(otherGoesOn);
            left -= half;
            otherLeft -= otherHalf;
        }

        return ((int)first, (int)second);
    }

    // A number that no chunk has had.
    private static uint Fresh(ref RecordEdit edit) => RootLimit.Of(edit.Value) | RootLimit.SecondSet;

    // The number behind the slots in use.
    private static uint NextOfRoot(ref RecordEdit edit)
    {
        int used = Root.Slots(edit.Value), known = (edit.ValueBytes - Root.ChunkedBytes) / sizeof(PageSlot);
        if (used == known)
        {
            uint fresh = Fresh(ref edit);
            byte* root = edit.Write(edit.ValueBytes + sizeof(PageSlot), force: true);
            Check.That(root != null, "store.E4 a root can be moved");
            SlotsOf(root)[used] = new PageSlot { Number = fresh };
            Root.RaiseLimit(root, fresh);
            edit.Close();
        }

        return SlotsOf(edit.Value)[used].Number;
    }

    private static void InsertInRoot(ref RecordEdit edit, int index, uint number)
    {
        byte* root = OpenRoot(ref edit);
        int used = Root.Slots(root);
        Insert(SlotsOf(root), used, index, number);
        Root.SetSlots(root, used + 1);
        edit.Close();
    }

    private static void RemoveFromRoot(byte* root, int index)
    {
        int used = Root.Slots(root);
        Remove(SlotsOf(root), used, index);
        Root.SetSlots(root, used - 1);
    }

    // What stands behind those in use is the number that is inserted.
    private static void Insert(PageSlot* slots, int used, int index, uint number)
    {
        long tail = (used - index) * (long)sizeof(PageSlot);
        Buffer.MemoryCopy(slots + index, slots + index + 1, tail, tail);
        slots[index] = new PageSlot { Number = number };
    }

    private static void Remove(PageSlot* slots, int used, int index)
    {
        PageSlot gone = slots[index];
        long tail = (used - index - 1) * (long)sizeof(PageSlot);
        Buffer.MemoryCopy(slots + index + 1, slots + index, tail, tail);
        slots[used - 1] = gone;
    }

    // The root's slots become those of a first branch. Without memory for it all is as it was.
    private static bool TryBranch(ref RecordEdit edit)
    {
        uint number = Fresh(ref edit);
        byte* branch = edit.WriteChunk(number, BranchBytes);
        if (branch == null)
            return false;
        PageSlot* slots = Top(ref edit, out int used);
        Used(branch) = Known(branch) = used;
        Buffer.MemoryCopy(slots, SlotsIn(branch), BranchPagesMax * (long)sizeof(PageSlot), used * (long)sizeof(PageSlot));
        var first = new PageSlot { Sort = slots->Sort, Number = number, Count = (int)Sum(slots, used) };
        byte* root = edit.Write(FirstRootBytes, force: true);
        Check.That(root != null, "store.E4 a root can be moved");
        *root |= (byte)RootFlags.Branched;
        Root.SetSlots(root, 1);
        Root.RaiseLimit(root, number);
        *SlotsOf(root) = first;
        edit.Close();
        return true;
    }

    // A full branch at an end of the sequence gets a neighbour, which is empty; any other is divided.
    private static bool TrySpread(ref RecordEdit edit, ref PageSpot at)
    {
        int branches = Root.Slots(edit.Value);
        bool atEnd = at.Branch == branches - 1 && at.Slot == BranchPagesMax;
        if (atEnd || at.IsFirst)
        {
            at = new PageSpot(atEnd ? branches : 0, 0, 0);
            return TryAddBranch(ref edit, at.Branch);
        }

        if (!TryAddBranch(ref edit, at.Branch + 1))
            return false;
        Divide(ref edit, at.Branch);
        if (at.Slot > BranchPagesMax / 2)
            at = new PageSpot(at.Branch + 1, at.Slot - (BranchPagesMax / 2), 0);
        return true;
    }

    private static bool TryAddBranch(ref RecordEdit edit, int index)
    {
        bool isFresh = (edit.ValueBytes - Root.ChunkedBytes) / sizeof(PageSlot) == Root.Slots(edit.Value);
        uint number = NextOfRoot(ref edit);
        if (isFresh || edit.Chunk(number, out _) == null) // under a number that nobody had nothing is believed
        {
            byte* fresh = edit.WriteChunk(number, BranchBytes);
            if (fresh == null)
                return false;
            Used(fresh) = Known(fresh) = 0;
        }

        InsertInRoot(ref edit, index, number);
        return true;
    }

    // The second half of a full branch goes to the empty one behind it, in exchange for numbers that are not in use there.
    private static void Divide(ref RecordEdit edit, int branch)
    {
        const int Half = BranchPagesMax / 2;
        byte* left = OpenBranch(ref edit, branch), right = OpenBranch(ref edit, branch + 1);
        for (int i = 0; i < Half; i++)
            (SlotsIn(left)[Half + i], SlotsIn(right)[i]) = (SlotsIn(right)[i], SlotsIn(left)[Half + i]);
        Known(left) = Half + Math.Min(Known(right), Half);
        Known(right) = Math.Max(Known(right), Half);
        Used(left) = Used(right) = Half;
        int moved = (int)Sum(SlotsIn(right), Half);
        PageSlot* top = SlotsOf(OpenRoot(ref edit));
        top[branch].Count -= moved;
        top[branch + 1].Count = moved;
        top[branch + 1].Sort = SlotsIn(right)->Sort;
        edit.Close();
    }
}
