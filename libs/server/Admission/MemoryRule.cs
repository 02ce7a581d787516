using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Inspect;
using Garnet.Server.Tiering;
using Tsavorite;

namespace Garnet.Server.Admission;

/// <summary>
/// There is memory for it, perhaps after something was evicted. While there is none nothing is queued for EXEC either, and EXEC needs room
/// for all that it will run (transactions.X7).
/// </summary>
internal static unsafe class MemoryRule
{
    internal static AdmissionResult Ask(ref Call call, in Question question)
    {
        if (!Lacks(ref call, in question))
            return AdmissionResult.Allowed;
        bool waits = call.Session.Room.IsComing && question.MayWait(ref call);
        if (waits && !question.Is(CommandFlags.RunsQueue) && MemoryWait.HasWaited(call.Client, call.NowMs)
            && call.Session.Room.EnsureNow(0))
            return AdmissionResult.Allowed;
        if (waits && MemoryWait.Next(call.Client, call.NowMs) is { } wait)
            return AdmissionResult.Until(wait);
        return AdmissionResult.Refused(call.Server.Refusals.Noted(RefusalCause.Memory));
    }

    /// <summary>True if memory is over its limit and no room can be made.</summary>
    internal static bool IsTight(ref Call call) => call.Server.Store.Tight && !call.Session.Room.Ensure(0);

    private static bool Lacks(ref Call call, in Question question)
    {
        if (question.IsFor(Asker.ScriptCall))
            return question.Is(CommandFlags.DenyOom) && question.Is(ScriptState.LacksMemory) && !question.Is(ScriptState.HasWritten);
        if (!question.Is(CommandFlags.DenyOom) && !question.IsFor(Asker.Queued))
            return false;
        if ((question.Entry->Flags & CommandFlags.RunsQueue) == 0)
            return IsTight(ref call);
        return call.Client.Transaction is { CanRun: true } && !call.Session.Room.Ensure(call.Worker.Transactions.RoomFor(call.Client));
    }
}
