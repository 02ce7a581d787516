using Garnet.Common;
using Garnet.Server.Commands;

namespace Garnet.Server.Admin;

/// <summary>COMMAND: what commands there are, all from their specs.</summary>
internal static class CommandCommands
{
    internal static unsafe void Register(CommandTable table)
    {
        table.AddContainer(Spec("COMMAND", -1, "", "Tells about the commands.", "2.8.13"), &RunBare);
        table.Add<CommandCount>();
        table.Add<CommandDetails>();
        table.Add<CommandDocs>();
        table.Add<CommandList>();
        table.Add<CommandGetKeys>();
        table.Add<CommandGetKeysAndFlags>();
    }

    internal static CommandSpec Spec(string name, int arity, string syntax, string summary, string since) =>
        new(name, arity, CommandFlags.Loading | CommandFlags.Stale) { Group = "server", Syntax = syntax, Summary = summary, Since = since, Complexity = "O(N)", Categories = "connection" };

    /// <summary>COMMAND alone tells about all of them.</summary>
    private static Reply RunBare(ref Call call) => call.Count == 1 ? CommandDetails.All(ref call) : Containers.RefuseUnknown(ref call);

    /// <summary>Numbers of all top-level commands.</summary>
    internal static IEnumerable<int> TopLevel(CommandTable table)
    {
        for (int i = 1; i < table.Specs.Count; i++)
        {
            if (!table.Specs[i].IsSubcommand)
                yield return i;
        }
    }

    /// <summary>Finds the command that the arguments from <paramref name="first"/> on would run; on false the error has been written.</summary>
    internal static unsafe bool TryKeys(ref Call call, int first, out KeySpec keys, out List<int> positions, out Reply failed)
    {
        keys = default;
        positions = [];
        failed = Reply.Sent;
        int id = call.Server.Commands.Find(call.Args + first, call.Count - first);
        if (id == 0)
        {
            failed = call.FailBytes("ERR Invalid command specified"u8);
            return false;
        }

        CommandSpec spec = call.Server.Commands.Specs[id];
        keys = spec.Keys;
        int count = call.Count - first;
        if (!keys.Any)
            failed = call.FailBytes("ERR The command has no key arguments"u8);
        else if (spec.Arity > 0 ? count != spec.Arity : count < -spec.Arity)
            failed = call.FailBytes("ERR Invalid number of arguments specified for command"u8);
        else if (TryPositions(ref call, first, count, keys, positions))
            return true;
        else if ((spec.Flags & CommandFlags.NoMandatoryKeys) != 0)
            positions.Clear(); // whatever is wrong with the arguments
        else
            failed = call.FailBytes("ERR Invalid arguments specified for command"u8);
        return failed == Reply.Sent;
    }

    /// <summary>Finds the keys of a command whose name stands at <paramref name="first"/>.</summary>
    internal static bool TryPositions(ref Call call, int first, int count, KeySpec keys, List<int> positions)
    {
        if (keys.StreamsFrom > 0)
            return TryStreams(ref call, first, count, keys.StreamsFrom, positions);
        if (keys.KeysFrom > 0 && first + keys.First < call.Count && call[first + keys.First].IsEmpty)
            return TryBehindKeys(ref call, first + keys.KeysFrom, first + count, positions);
        int last = keys.Last < 0 ? count + keys.Last : keys.Last;
        if (keys.CountArg > 0)
        {
            if (!call.TryInt64(first + keys.CountArg, out long number) || number < 1 || number > (count - keys.First) / keys.Step)
                return false;
            last = keys.First + ((int)(number - 1) * keys.Step);
        }

        if (keys.Target > 0)
            positions.Add(first + keys.Target);
        for (int i = keys.First; i <= last; i += keys.Step)
            positions.Add(first + i);
        bool all = positions.Count > 0 && positions[^1] < call.Count;
        if (all && keys.StoreFrom > 0 && StoreAt(ref call, first + keys.StoreFrom, first + count) is > 0 and int storeAt)
            positions.Add(storeAt);
        return all;
    }

    private static bool TryStreams(ref Call call, int first, int count, int from, List<int> positions)
    {
        (int at, int keys) = StreamKeys(ref call, first + from, first + count);
        for (int i = 0; i < keys; i++)
            positions.Add(at + i);
        return keys > 0;
    }

    private static bool TryBehindKeys(ref Call call, int from, int end, List<int> positions)
    {
        while (from < end && !call.Is(from, "KEYS"u8))
            from++;
        for (int i = from + 1; i < end; i++)
            positions.Add(i);
        return positions.Count > 0;
    }

    /// <summary>Where the keys behind STREAMS begin, and how many they are, an odd id left out; 0 if they cannot be told.</summary>
    internal static (int First, int Keys) StreamKeys(ref Call call, int from, int end)
    {
        while (from < end && !call.Is(from, "STREAMS"u8))
            from++;
        int rest = end - from - 1;
        return rest > 1 ? (from + 1, rest / 2) : (0, 0);
    }

    // The last STORE counts; what other options name is passed over.
    private static int StoreAt(ref Call call, int from, int end)
    {
        int found = 0;
        for (int i = from; i + 1 < end; i++)
        {
            if (call.Is(i, "STORE"u8) || call.Is(i, "STOREDIST"u8))
                found = ++i;
            else if (call.Is(i, "GET"u8) || call.Is(i, "BY"u8))
                i++;
            else if (call.Is(i, "LIMIT"u8))
                i += 2;
        }

        return found;
    }
}

internal readonly struct CommandCount : ICommand
{
    public static CommandSpec Spec => CommandCommands.Spec("COMMAND|COUNT", 2, "", "Counts the commands.", "2.8.13");

    public static Reply Run(ref Call call) => call.Int(call.Server.Commands.TopLevelCount);
}

internal readonly struct CommandDetails : ICommand
{
    public static CommandSpec Spec => CommandCommands.Spec("COMMAND|INFO", -2, "[command-name [command-name ...]]", "Returns arity, flags and keys of commands.", "2.8.13");

    public static Reply Run(ref Call call)
    {
        if (call.Count == 2)
            return All(ref call);
        call.Out.Array(call.Count - 2);
        for (int i = 2; i < call.Count; i++)
        {
            int id = call.Server.Commands.FindByFullName(call[i]);
            if (id == 0)
                call.Out.Null();
            else
                CommandReply.WriteInfo(call.Out, call.Server.Commands, id);
        }

        return Reply.Sent;
    }

    internal static Reply All(ref Call call)
    {
        int[] ids = [.. CommandCommands.TopLevel(call.Server.Commands)];
        call.Out.Array(ids.Length);
        foreach (int id in ids)
            CommandReply.WriteInfo(call.Out, call.Server.Commands, id);
        return Reply.Sent;
    }
}

internal readonly struct CommandDocs : ICommand
{
    public static CommandSpec Spec => CommandCommands.Spec("COMMAND|DOCS", -2, "[command-name [command-name ...]]", "Returns the documentation of commands.", "7.0.0");

    public static Reply Run(ref Call call)
    {
        CommandTable table = call.Server.Commands;
        var ids = new List<int>();
        if (call.Count == 2)
            ids.AddRange(CommandCommands.TopLevel(table));
        for (int i = 2; i < call.Count; i++)
        {
            int id = table.FindByFullName(call[i]);
            if (id != 0)
                ids.Add(id);
        }

        call.Out.Map(ids.Count);
        foreach (int id in ids)
            CommandReply.WriteDocs(call.Out, table, id);
        return Reply.Sent;
    }
}

internal readonly struct CommandList : ICommand
{
    public static CommandSpec Spec => CommandCommands.Spec("COMMAND|LIST", -2, "[FILTERBY <MODULE module-name | ACLCAT category | PATTERN pattern>]", "Lists the names of the commands.", "7.0.0");

    public static Reply Run(ref Call call)
    {
        if (call.Count is not (2 or 5) || (call.Count == 5 && !call.Is(2, "FILTERBY"u8)))
            return call.Fail(Fault.Syntax);
        var names = new List<string>();
        foreach (CommandSpec spec in call.Server.Commands.Specs.Skip(1)) // the first is no command
        {
            if (call.Count == 2 || Passes(ref call, spec))
                names.Add(spec.Name.ToLowerInvariant());
        }

        if (call.Count == 5 && !call.Is(3, "MODULE"u8) && !call.Is(3, "ACLCAT"u8) && !call.Is(3, "PATTERN"u8))
            return call.Fail(Fault.Syntax);
        call.Out.Array(names.Count);
        foreach (string name in names)
            call.Out.Bulk(name);
        return Reply.Sent;
    }

    private static bool Passes(ref Call call, CommandSpec spec)
    {
        if (call.Is(3, "ACLCAT"u8))
            return CommandReply.Categories(spec).Contains("@" + call.Text(4).ToLowerInvariant());
        return call.Is(3, "PATTERN"u8) && Glob.Matches(call[4], System.Text.Encoding.ASCII.GetBytes(spec.Name), ignoreCase: true);
    }
}

internal readonly struct CommandGetKeys : ICommand
{
    public static CommandSpec Spec => CommandCommands.Spec("COMMAND|GETKEYS", -4, "command [arg [arg ...]]", "Returns the keys among the arguments of a command.", "2.8.13");

    public static Reply Run(ref Call call)
    {
        if (!CommandCommands.TryKeys(ref call, 2, out _, out List<int> positions, out Reply failed))
            return failed;
        call.Out.Array(positions.Count);
        foreach (int position in positions)
            call.Out.Bulk(call[position]);
        return Reply.Sent;
    }
}

internal readonly struct CommandGetKeysAndFlags : ICommand
{
    public static CommandSpec Spec => CommandCommands.Spec("COMMAND|GETKEYSANDFLAGS", -4, "command [arg [arg ...]]", "Returns the keys among the arguments of a command and how they are used.", "7.0.0");

    public static Reply Run(ref Call call)
    {
        if (!CommandCommands.TryKeys(ref call, 2, out KeySpec keys, out List<int> positions, out Reply failed))
            return failed;
        call.Out.Array(positions.Count);
        foreach (int position in positions)
        {
            call.Out.Array(2);
            call.Out.Bulk(call[position]);
            CommandReply.WriteUsage(call.Out, UsageAt(ref call, keys, positions, position));
        }

        return Reply.Sent;
    }

    private static string UsageAt(ref Call call, KeySpec keys, List<int> positions, int position)
    {
        bool isStore = keys.StoreFrom > 0 && position >= 2 + keys.StoreFrom;
        if (isStore || (keys.Target > 0 && position == positions[0]))
            return KeySpec.TargetUsage;
        return keys.RestUsage.Length > 0 && position > 2 + keys.First ? keys.RestUsage : UsageOf(ref call, keys);
    }

    // SET reads the old value only when asked to: its use of the key depends on the arguments.
    private static string UsageOf(ref Call call, KeySpec keys)
    {
        const string Variable = " VARIABLE_FLAGS";
        if (!keys.Usage.EndsWith(Variable, StringComparison.Ordinal))
            return keys.Usage;
        for (int i = 5; i < call.Count; i++)
        {
            if (call.Is(i, "GET"u8))
                return keys.Usage[..^Variable.Length];
        }

        return "OW UPDATE";
    }
}
