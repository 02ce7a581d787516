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
    private const long LargeBytes = 64 << 10; // less fits into what is free while memory is not tight
    private const long BytesOfArgument = 128; // what an entry of a collection takes beside itself at most, its part of what grows included

    internal static AdmissionResult Ask(ref Call call, in Question question)
    {
        if (!Lacks(ref call, in question))
            return OfLarge(ref call, in question);
        bool waits = call.Session.Room.IsComing && question.MayWait(ref call);
        if (waits && MemoryWait.Next(call.Client, call.NowMs) is { } wait)
            return AdmissionResult.Until(wait);
        return AdmissionResult.Refused(call.Server.Refusals.Noted(RefusalCause.Memory));
    }

    /// <summary>True if memory is over its limit and no room can be made.</summary>
    internal static bool IsTight(ref Call call) => call.Server.Store.Tight && !call.Session.Room.Ensure(0);

    // What brings much finds room for it before it begins, if that can be made: an edit that has begun is refused what it lacks then.
    private static AdmissionResult OfLarge(ref Call call, in Question question)
    {
        bool isAsked = question.IsFor(Asker.Client) && question.Is(CommandFlags.DenyOom)
            && !question.Is(CommandFlags.RunsQueue | CommandFlags.RunsScript);
        bool mayBeLarge = isAsked && call.Args[call.Count - 1].Bytes - call.Args[0].Bytes >= LargeBytes - call.Args[call.Count - 1].Length;
        long bytes = mayBeLarge ? call.RequestBytes() : 0;
        if (bytes < LargeBytes)
            return AdmissionResult.Allowed;
        StepRoom room = call.Session.Room;
        bool waits = !room.Ensure(bytes + (call.Count * BytesOfArgument)) && room.IsComing && question.MayWait(ref call);
        return waits && MemoryWait.Next(call.Client, call.NowMs) is { } wait ? AdmissionResult.Until(wait) : AdmissionResult.Allowed;
    }

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
