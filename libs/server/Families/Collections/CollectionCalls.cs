using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Families.Collections;

/// <summary>What the commands of all collections share.</summary>
internal static class CollectionCalls
{
    /// <summary>
    /// Runs an edit on the call's key. The database may be flushed between the look-up of its namespace and the lock: then once more
    /// in the fresh one.
    /// </summary>
    internal static Outcome Edit<T>(ref Call call, ref T operation) where T : struct, IEdit
    {
        while (true)
        {
            KeyRef key = call.Key;
            Outcome outcome = call.Session.Edit(in key, ref operation);
            if (outcome != Outcome.NotFound || key.Namespace == call.Namespace)
                return outcome;
        }
    }

    /// <summary>
    /// <see cref="Edit"/> of what a call brings in several entries: where that is much, room for all of it is found first, so that a part of it is never there alone.
    /// </summary>
    internal static Outcome EditWhole<T>(ref Call call, ref T operation, in EntryCost cost) where T : struct, IEdit
    {
        using WriteRoom room = WriteRoom.For(ref call, cost);
        return room.IsThere ? Edit(ref call, ref operation) : Outcome.OutOfMemory;
    }

    /// <summary>
    /// Replies to a large write that changes nothing, because there is a value of another kind, or none where one has to be: before anything is evicted for it.
    /// </summary>
    internal static bool ChangesNothing(ref Call call, in EntryCost cost, bool onlyIfThere, out Reply reply)
    {
        var there = default(CountLook);
        bool isNothing = false;
        if (cost.LargeBytes(ref call) > 0)
            isNothing = Examine(ref call, ref there, quiet: true) == Outcome.NotFound ? onlyIfThere : there.Kind != cost.Kind;
        reply = !isNothing ? default : there.Kind == RecordKind.None ? call.Int(0) : call.Fail(Fault.WrongType);
        return isNothing;
    }

    /// <summary>Shows the record under the call's key.</summary>
    internal static Outcome Examine<T>(ref Call call, ref T look, bool quiet = false) where T : struct, IExamine
    {
        KeyRef key = call.Key;
        return call.Session.Examine(in key, ref look, quiet);
    }

    /// <summary>Replies how many entries the collection under the call's key has, 0 without one.</summary>
    internal static Reply Count(ref Call call, RecordKind kind)
    {
        var look = default(CountLook);
        if (Examine(ref call, ref look) == Outcome.NotFound)
            return call.Int(0);
        return look.Kind == kind ? call.Int(look.Count) : call.Fail(Fault.WrongType);
    }

    /// <summary>The reply after a look that has written it, unless the record was of another kind.</summary>
    internal static Reply Done(ref Call call, bool wrongKind) => wrongKind ? call.Fail(Fault.WrongType) : Reply.Sent;

    /// <summary>Bytes of memory of what is under the call's key, 0 without it.</summary>
    internal static long Footprint(ref Call call)
    {
        var look = default(FootprintLook);
        Examine(ref call, ref look, quiet: true);
        return look.Bytes;
    }
}
