using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>The command may be used here: in a transaction, in a script, by a subscriber, beside a script that has run for too long.</summary>
internal static class ContextRule
{
    internal static AdmissionResult Ask(ref Call call, in Question question) => question.Asker switch
    {
        Asker.Busy => BesideScript(ref call, in question),
        Asker.Declared => question.Is(ScriptState.ReadOnly) && question.Is(CommandFlags.Write)
            ? AdmissionResult.Refused("ERR Can not execute a script with write flag using *_ro command."u8)
            : AdmissionResult.Allowed,
        Asker.ScriptCall => InScript(in question),
        Asker.Queued when question.Is(CommandFlags.NoMulti) => NotQueued(),
        _ => ForSubscriber(ref call, in question),
    };

    // Whoever wants the script to end must get through, and what touches no key.
    private static unsafe AdmissionResult BesideScript(ref Call call, in Question question)
    {
        CommandEntry* entry = question.Entry;
        bool transacts = (call.Client.Modes & ClientModes.Transaction) != 0;
        if (question.Is(CommandFlags.NoMulti) && transacts)
            return NotQueued();
        AdmissionResult asSubscriber = ForSubscriber(ref call, in question);
        if (!asSubscriber.IsAllowed)
            return asSubscriber;
        // WATCH in a transaction touches none: it says that it does not belong there
        bool touches = entry->FirstKey != 0 && !(transacts && question.Is(CommandFlags.Immediate));
        bool runs = !touches && question.Is(CommandFlags.AllowBusy);
        if (runs && (entry->Id != call.Server.Commands.Shutdown || (call.Count > 1 && call.Is(1, "NOSAVE"u8))))
            return AdmissionResult.Allowed;
        return AdmissionResult.Refused(FaultText.Busy(call.Server.Workers.RunningScript() is { IsFunction: true }));
    }

    private static AdmissionResult NotQueued() => AdmissionResult.Refused("ERR Command not allowed inside a transaction"u8);

    private static AdmissionResult InScript(in Question question)
    {
        if (question.Is(CommandFlags.NoScript))
            return AdmissionResult.Refused("ERR This Redis command is not allowed from script"u8);
        if (question.Is(CommandFlags.Write | CommandFlags.MayReplicate) && question.Is(ScriptState.ReadOnly))
            return AdmissionResult.Refused("ERR Write commands are not allowed from read-only scripts."u8);
        if (question.Is(CommandFlags.WholeDatabases) && question.Is(ScriptState.HasWritten) && !question.Is(ScriptState.IsOrdered))
            return AdmissionResult.Refused("ERR a script that changes whole databases after other changes must spell FLUSHALL, FLUSHDB "u8 +
                "or SWAPDB in its text or arguments"u8);
        return AdmissionResult.Allowed;
    }

    private static AdmissionResult ForSubscriber(ref Call call, in Question question)
    {
        Connection client = call.Client;
        if ((client.Modes & ClientModes.Subscribed) == 0 || client.Resp3 || question.Is(CommandFlags.WhileSubscribed))
            return AdmissionResult.Allowed;
        string name = call.Server.Commands.Specs[client.LastCommand].Name.ToLowerInvariant();
        return AdmissionResult.Refused($"ERR Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are " +
            "allowed in this context");
    }
}
