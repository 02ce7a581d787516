using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>
/// Between framing and running: asks the rules (<see cref="AdmissionRules"/>) on behalf of whoever brings a command, and does what they
/// say. Not on the way of a plain command of a plain client.
/// </summary>
internal static unsafe class AdmissionController
{
    /// <summary>Runs the command of a connection, or keeps it for EXEC, unless a rule has something against it.</summary>
    internal static Reply Run(ref Call call, CommandEntry* entry)
    {
        var silence = new ReplySilence(ref call);
        Reply reply = RunHeard(ref call, entry);
        silence.End(ref call, entry, reply);
        return reply;
    }

    /// <summary>Runs the command beside a script that has run for too long, if that may be.</summary>
    internal static Reply RunBusy(ref Call call, CommandEntry* entry)
    {
        var silence = new ReplySilence(ref call);
        Reply reply = RunHeardBusy(ref call, entry);
        silence.End(ref call, entry, reply);
        return reply;
    }

    /// <summary>False if something stands between a script or function and its run, with what was answered.</summary>
    internal static bool MayBegin(ref Call call, CommandFlags flags, ScriptState state, bool isDeclared, out Reply reply)
    {
        CommandEntry* entry = call.Server.Commands.Entries + call.Client.LastCommand;
        var question = new Question(isDeclared ? Asker.Declared : Asker.Undeclared, entry, flags, state);
        AdmissionResult result = AdmissionRules.Ask(ref call, in question);
        reply = result.IsAllowed ? Reply.Sent : Answer(ref call, result);
        return result.IsAllowed;
    }

    /// <summary>Why a script may not run the command; empty if it may.</summary>
    internal static ReadOnlySpan<byte> RefusalInScript(ref Call call, CommandEntry* entry, ScriptState state)
    {
        var question = new Question(Asker.ScriptCall, entry, entry->Flags, state);
        ReadOnlySpan<byte> refusal = AdmissionRules.Ask(ref call, in question).Error;
        if (!refusal.IsEmpty)
        {
            Execution.CountRefusal(call.Worker, entry->Id);
            call.Worker.Figures.CountError(refusal);
        }

        return refusal;
    }

    /// <summary>False if a command of a transaction may not run any more, with what was answered for it.</summary>
    internal static bool MayStillRun(ref Call call, CommandEntry* entry)
    {
        if (call.Client.User is not { Rights.AllowsEverything: false })
            return true;
        return IsStillAllowed(ref call, entry);
    }

    private static Reply RunHeard(ref Call call, CommandEntry* entry)
    {
        Connection client = call.Client;
        bool queues = IsQueued(client, entry);
        var question = new Question(queues ? Asker.Queued : Asker.Client, entry, FlagsOf(client, entry));
        if (!IsAdmitted(ref call, in question, out Reply reply))
            return reply;
        if (queues)
            return call.Worker.Transactions.Enqueue(ref call, entry);
        reply = Execution.Run(ref call, entry);
        // CLIENT CACHING before a MULTI holds until its EXEC
        if ((client.Modes & ClientModes.Tracking) != 0 && (client.Modes & ClientModes.Transaction) == 0)
            TrackedReads.AfterRun(ref call);
        return reply;
    }

    private static Reply RunHeardBusy(ref Call call, CommandEntry* entry)
    {
        var question = new Question(Asker.Busy, entry, entry->Flags);
        if (!IsAdmitted(ref call, in question, out Reply reply))
            return reply;
        if (IsQueued(call.Client, entry))
            return call.Worker.Transactions.Enqueue(ref call, entry);
        return Execution.RunTimed(ref call, entry);
    }

    private static bool IsStillAllowed(ref Call call, CommandEntry* entry)
    {
        AdmissionResult result = AdmissionRules.Ask(ref call, new Question(Asker.Executed, entry, entry->Flags));
        if (result.IsAllowed)
            return true;
        Execution.CountRefusal(call.Worker, entry->Id);
        call.FailBytes(result.Error);
        return false;
    }

    private static bool IsAdmitted(ref Call call, in Question question, out Reply reply)
    {
        reply = Reply.Sent;
        AdmissionResult result = AdmissionRules.Ask(ref call, in question);
        if (result.IsAllowed)
            return true;
        long before = call.Out.Mark;
        reply = Answer(ref call, result);
        if (reply == Reply.Postponed)
            return false;
        call.Client.EndBegun(); // refused when it was to run again: the next like it begins anew
        Execution.CountRefusal(call.Worker, question.Entry->Id);
        bool transacts = (call.Client.Modes & ClientModes.Transaction) != 0 || (question.Entry->Flags & CommandFlags.RunsQueue) != 0;
        if (transacts)
            call.Worker.Transactions.Refused(ref call, question.Entry, before);
        reply = Reply.Sent; // it has been counted: whoever runs commands counts those that fail
        return false;
    }

    private static Reply Answer(ref Call call, AdmissionResult result)
    {
        if (result.Wait is not { } wait)
            return call.FailBytes(result.Error);
        call.Worker.Park(call.Client, wait);
        return Reply.Postponed;
    }

    private static bool IsQueued(Connection client, CommandEntry* entry) =>
        (client.Modes & ClientModes.Transaction) != 0 && (entry->Flags & CommandFlags.Immediate) == 0;

    // EXEC is as much a write, or as hungry for memory, as what it runs.
    private static CommandFlags FlagsOf(Connection client, CommandEntry* entry)
    {
        const CommandFlags Inherited = CommandFlags.Write | CommandFlags.DenyOom | CommandFlags.MayReplicate;
        bool runs = (entry->Flags & CommandFlags.RunsQueue) != 0;
        return entry->Flags | (runs && client.Transaction is { } transaction ? transaction.Queue.Flags & Inherited : CommandFlags.None);
    }
}
