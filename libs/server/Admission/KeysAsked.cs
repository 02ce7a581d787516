using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>
/// From a command to the keys that a rule about keys is asked about, each with its database; of EXEC those of all that it will run.
/// <see cref="IKeyRule"/> says which keys it does not find.
/// </summary>
internal static unsafe class KeysAsked
{
    internal static AdmissionResult Ask(ref Call call, in Question question, IKeyRule rule)
    {
        bool mayBePutOff = question.MayBePutOff;
        rule.Begin(ref call);
        AdmissionResult result = (question.Entry->Flags & CommandFlags.RunsQueue) != 0
            ? AskQueued(ref call, rule, mayBePutOff)
            : AskOne(ref call, question.Entry, call.Client.Database, rule, mayBePutOff);
        return result.IsAllowed ? rule.Settle(ref call, mayBePutOff) : result;
    }

    private static AdmissionResult AskQueued(ref Call exec, IKeyRule rule, bool mayBePutOff) =>
        exec.Worker.Transactions.AskQueued(ref exec,
            (ref Call call, CommandEntry* entry, int database) => AskOne(ref call, entry, database, rule, mayBePutOff));

    private static AdmissionResult AskOne(ref Call call, CommandEntry* entry, int database, IKeyRule rule, bool mayBePutOff)
    {
        KeySpec spec = call.Server.Commands.Specs[entry->Id].Keys;
        if (!KeyPositions.TryOf(ref call, spec, out KeyPositions keys))
            return AdmissionResult.Allowed;
        if (spec.Elsewhere is not { } elsewhere || !elsewhere(ref call, out int target, out int other))
            return rule.Ask(ref call, in keys, database, mayBePutOff);
        AdmissionResult result = rule.Ask(ref call, KeyPositions.Of(spec.First), database, mayBePutOff);
        return result.IsAllowed ? rule.Ask(ref call, KeyPositions.Of(target), other, mayBePutOff) : result;
    }
}
