using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Collections;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Families.Hashes;

internal readonly struct HScan : ICommand
{
    public static CommandSpec Spec => HashCommands.Spec("HSCAN", -3, CommandFlags.ReadOnly | CommandFlags.Quick, "RO ACCESS", "key cursor [MATCH pattern] [COUNT count] [NOVALUES]", "Iterates over the fields of a hash.") with { Since = "2.8.0", Tips = "nondeterministic_output" };

    public static Reply Run(ref Call call) => ScanPage.Run(ref call, RecordKind.Hash, EntryForm.Pair, "NOVALUES"u8);
}
