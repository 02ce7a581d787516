using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>From a command to the keys that a rule about keys is asked about; of EXEC those of all that it will run.</summary>
internal static unsafe class KeysAsked
{
    internal static AdmissionResult Ask(ref Call call, in Question question, IKeyRule rule, bool mayWait)
    {
        if ((question.Entry->Flags & CommandFlags.RunsQueue) != 0)
            return call.Reactor.Transactions.AskKeys(ref call, rule, mayWait);
        return KeyPositions.TryOf(ref call, call.Server.Commands.Specs[question.Entry->Id].Keys, out KeyPositions keys)
            ? rule.Ask(ref call, in keys, call.Client.Database, mayWait)
            : AdmissionResult.Allowed;
    }
}
