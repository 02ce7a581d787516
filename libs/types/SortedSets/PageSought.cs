using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.SortedSets;

/// <summary>
/// The search for the page in which a member of a sorted set lies, as far as it gets without waiting for a tier: among pages that begin with the same score their first members decide, and
/// many searches that wait for one page each would take as many rounds of the device.
/// </summary>
internal static unsafe class PageSought
{
    /// <summary>The number of the member's page, or of one that has to be looked into before that can be told.</summary>
    public static uint NumberOf(ref RecordEdit edit, in SortBound element)
    {
        PageSlot* slots = PageDirectory.Top(ref edit, out int used);
        int at = 0;
        if (PageDirectory.IsBranched(ref edit))
        {
            if (!TryLastBelow(ref edit, slots, used, element, ref at))
                return PageDirectory.Slots(ref edit, at, out _)->Number;
            slots = PageDirectory.Slots(ref edit, at, out used);
        }

        TryLastBelow(ref edit, slots, used, element, ref at);
        return slots[at].Number;
    }

    // The last that begins below the element, or the first. False: it is not known what this one begins with. Slots of branches have the score of their first page.
    private static bool TryLastBelow(ref RecordEdit edit, PageSlot* slots, int used, in SortBound element, ref int low)
    {
        bool areBranches = PageDirectory.IsBranched(ref edit) && slots == PageDirectory.Top(ref edit, out _);
        low = 0;
        for (int high = used - 1; low < high;)
        {
            int middle = (low + high + 1) / 2;
            uint first = areBranches && slots[middle].Sort == element.Score
                ? PageDirectory.Slots(ref edit, middle, out _)->Number : slots[middle].Number;
            bool isDecided = slots[middle].Sort != element.Score;
            if (!isDecided && !edit.IsThere(first))
            {
                low = middle;
                return false;
            }

            bool isBelow = isDecided ? slots[middle].Sort < element.Score : SortedOrder.BeginsBelow(ref edit, first, element);
            (low, high) = isBelow ? (middle, high) : (low, middle - 1);
        }

        return true;
    }
}
