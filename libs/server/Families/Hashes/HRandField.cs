using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Families.Hashes;

internal readonly struct HRandField : ICommand
{
    public static CommandSpec Spec => HashCommands.Spec("HRANDFIELD", -2, CommandFlags.ReadOnly | CommandFlags.Quick, "RO ACCESS", "key [count [WITHVALUES]]", "Returns random fields of a hash.") with { Since = "6.2.0", Complexity = "O(N)", Tips = "nondeterministic_output" };

    public static Reply Run(ref Call call) => RandomChoice.Run(ref call, "WITHVALUES"u8, EntryForm.Pair, RecordKind.Hash);
}
