using Garnet.Common.Resp;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Inspect;
using Garnet.Server.Persistence;

namespace Garnet.Server.Admission;

/// <summary>What the command changes can be kept: the data are loaded, the log takes writes, and this one is not too long for it.</summary>
internal static unsafe class DurabilityRule
{
    internal static AdmissionResult Ask(ref Call call, in Question question)
    {
        if (call.Server.Keeper is { Blocks: true } keeper)
        {
            AdmissionResult result = AskBlocked(ref call, in question, keeper);
            if (!result.IsAllowed)
                return result;
        }

        if (!question.Is(CommandFlags.Write) || !question.IsFor(Asker.Client | Asker.Queued))
            return AdmissionResult.Allowed;
        long bytes = BytesOf(ref call, in question);
        return bytes <= call.Session.Room.LogBytesMax
            ? AdmissionResult.Allowed
            : AdmissionResult.Refused("ERR " + TooMuch.TextOf(call.Session.Room.TooLong(bytes)));
    }

    private static AdmissionResult AskBlocked(ref Call call, in Question question, DataKeeper keeper)
    {
        if (keeper.Loading && !question.Is(CommandFlags.Loading))
            return AdmissionResult.Refused(Fault.Loading);
        if (!question.Is(CommandFlags.Write))
            return AdmissionResult.Allowed;
        bool isRefused = keeper.Trouble is not null && !question.IsFor(Asker.Undeclared) && !question.Is(ScriptState.HasWritten);
        if (isRefused)
            return AdmissionResult.Refused(call.Server.Refusals.Noted(RefusalCause.Log));
        return keeper.Trouble is null && keeper.Log.IsFull && question.MayWait(ref call)
            ? AdmissionResult.Until(new LogRoomWait(keeper.Log))
            : AdmissionResult.Allowed;
    }

    // Commands of several keys change one after the other: what the log would not take as a whole is refused before the first. Short requests
    // are not counted.
    private static long BytesOf(ref Call call, in Question question)
    {
        if ((question.Entry->Flags & CommandFlags.RunsQueue) != 0)
            return call.Client.Transaction is { CanRun: true } transaction ? transaction.Queue.Bytes : 0;
        Arg* first = call.Args, last = first + call.Count - 1;
        return last->Bytes - first->Bytes > Worker.PlainRequestBytesMax ? call.RequestBytes() : 0;
    }
}
