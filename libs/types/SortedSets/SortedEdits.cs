using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.SortedSets;

/// <summary>
/// Runs edits of sorted sets. What is due and in their way is removed first, as a change of its own under the same lock: the edit is
/// logged by what it was asked for, and whoever reads that back knows no time; so they find the set as it was found here. An edit of
/// members by name meets those alone; one by ranks, which count only who is not due, meets all.
/// </summary>
public static class SortedEdits
{
    /// <summary>Runs the edit on a key.</summary>
    public static Outcome Run<T>(StoreSession store, in KeyRef key, ref T edit) where T : struct, IEdit, ISortedEdit
    {
        Outcome outcome = store.Edit(in key, ref edit);
        return edit.MetDue ? RunAfterRemoval(store, key, ref edit) : outcome;
    }

    /// <summary>Removes what is due in a collection, whatever its kind.</summary>
    public static void RemoveDue(StoreSession store, in KeyRef key)
    {
        var visit = default(DueVisit);
        do DueEntries.Remove(store, in key, ref visit);
        while (visit.Cursor != 0);
    }

    /// <summary>Runs an edit that met what is due once more, behind the removal of that.</summary>
    public static Outcome RunAfterRemoval<T>(StoreSession store, in KeyRef key, ref T edit) where T : struct, IEdit, ISortedEdit
    {
        store.Lock([key]);
        edit.RemoveDue(store, in key); // the session's clock stands until the command is over: nothing else falls due
        edit.MetDue = false;
        Outcome outcome = store.Edit(in key, ref edit);
        store.Unlock();
        return outcome;
    }
}
