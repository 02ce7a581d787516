using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Server.Families.SortedSets;

/// <summary>Edits of the sorted set that a call names.</summary>
internal static class SortedSetCalls
{
    /// <summary>Runs the edit on the call's key.</summary>
    internal static Outcome Edit<T>(ref Call call, ref T edit) where T : struct, IEdit, ISortedEdit
    {
        Outcome outcome = CollectionCalls.Edit(ref call, ref edit);
        return edit.MetDue ? SortedEdits.RunAfterRemoval(call.Session, call.Key, ref edit) : outcome;
    }
}
