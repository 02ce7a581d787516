using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Inspect;
using Garnet.Server.Tiering;
using Tsavorite;

namespace Garnet.Server.Admission;

/// <summary>
/// There is memory for it, perhaps after something was evicted, and nobody waits for some who came before (tiering.M1). While there is none nothing is queued for EXEC either,
/// and EXEC needs room for all that it will run (transactions.X7).
/// </summary>
internal static unsafe class MemoryRule
{
    internal static AdmissionResult Ask(ref Call call, in Question question)
    {
        if (!Needs(ref call, in question))
            return AdmissionResult.Allowed;
        RoomLine line = call.Worker.RoomLine;
        bool mayWait = question.MayWait(ref call);
        bool isBehind = mayWait && line.HasAny && !question.IsFor(Asker.Queued)
            && !MemoryWait.HasEnded(call.Client, call.NowMs) && line.IsBehind(call.Client);
        if (!isBehind && !Lacks(ref call, in question))
            return AdmissionResult.Allowed;
        if (!mayWait && call.Session.Room.IsComing && call.Session.Room.EnsureInPlace(BytesFor(ref call, in question)))
            return AdmissionResult.Allowed;
        bool waits = mayWait && (isBehind || call.Session.Room.IsComing);
        if (waits && !isBehind && !question.Is(CommandFlags.RunsQueue) && MemoryWait.HasWaited(call.Client, call.NowMs)
            && call.Session.Room.EnsureNow(0))
            return AdmissionResult.Allowed;
        if (!waits || MemoryWait.Next(call.Client, line, call.NowMs) is not { } wait)
            return AdmissionResult.Refused(call.Server.Refusals.Noted(RefusalCause.Memory));
        if (!isBehind)
            wait.Await(call.Session.Room, BytesFor(ref call, in question), isThere: false, call.Client, line, call.NowMs);
        return AdmissionResult.Until(wait);
    }

    /// <summary>True if memory is over its limit and no room can be made, for what cannot wait once it has begun.</summary>
    internal static bool LacksForScript(ref Call call) => call.Server.Store.Tight && !call.Session.Room.EnsureInPlace(0);

    private static bool IsTight(ref Call call) => call.Server.Store.Tight && !call.Session.Room.Ensure(0);

    private static bool Needs(ref Call call, in Question question)
    {
        if (question.IsFor(Asker.ScriptCall))
            return question.Is(CommandFlags.DenyOom) && question.Is(ScriptState.LacksMemory) && !question.Is(ScriptState.HasWritten);
        if (!question.Is(CommandFlags.DenyOom) && !question.IsFor(Asker.Queued))
            return false;
        return !RunsQueue(in question) || call.Client.Transaction is { CanRun: true };
    }

    private static bool Lacks(ref Call call, in Question question) => question.IsFor(Asker.ScriptCall)
        || (RunsQueue(in question) ? !call.Session.Room.Ensure(BytesFor(ref call, in question)) : IsTight(ref call));

    private static long BytesFor(ref Call call, in Question question) =>
        RunsQueue(in question) ? call.Worker.Transactions.RoomFor(call.Client) : 0;

    private static bool RunsQueue(in Question question) => (question.Entry->Flags & CommandFlags.RunsQueue) != 0;
}
