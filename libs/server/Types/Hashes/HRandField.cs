using Garnet.Common.Resp;
using Garnet.Server.Commands;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Types.Hashes;

internal readonly struct HRandField : ICommand
{
    public static CommandSpec Spec => HashCommands.Spec("HRANDFIELD", -2, CommandFlags.ReadOnly | CommandFlags.Quick, "RO ACCESS", "key [count [WITHVALUES]]", "Returns random fields of a hash.") with { Since = "6.2.0", Complexity = "O(N)", Tips = "nondeterministic_output" };

    public static Reply Run(ref Call call)
    {
        if (!RandomChoice.TryParse(ref call, "WITHVALUES"u8, out RandomChoice choice, out Reply failed))
            return failed;
        choice.Form = EntryForm.Pair;
        choice.Kind = RecordKind.Hash;
        if (CollectionCalls.Examine(ref call, ref choice) != Outcome.NotFound)
            return CollectionCalls.Done(ref call, choice.WrongKind);
        if (choice.Single)
            return call.Null();
        call.Out.Array(0);
        return Reply.Sent;
    }
}
