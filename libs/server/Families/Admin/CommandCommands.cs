using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Families.Admin;

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
        new(name, arity, CommandFlags.Loading | CommandFlags.Stale)
        {
            Group = "server",
            Syntax = syntax,
            Summary = summary,
            Since = since,
            Complexity = "O(N)",
            Categories = "connection",
        };

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
    internal static unsafe bool TryKeys(ref Call call, int first, out KeySpec keys, out KeyPositions positions, out Reply failed)
    {
        keys = default;
        positions = default;
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
        else if (KeyPositions.TryOf(ref call, first, count, keys, out positions))
            return true;
        else if ((spec.Flags & CommandFlags.NoMandatoryKeys) != 0)
            positions = default; // whatever is wrong with the arguments
        else
            failed = call.FailBytes("ERR Invalid arguments specified for command"u8);
        return failed == Reply.Sent;
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
        Glob? pattern = call.Count == 5 && call.Is(3, "PATTERN"u8) ? new Glob(call[4].ToArray(), ignoreCase: true) : null;
        string? category = call.Count == 5 && call.Is(3, "ACLCAT"u8) ? "@" + call.Text(4).ToLowerInvariant() : null;
        foreach (CommandSpec spec in call.Server.Commands.Specs.Skip(1)) // the first is no command
        {
            if (call.Count == 2 || pattern?.Matches(System.Text.Encoding.ASCII.GetBytes(spec.Name)) == true
                || (category is not null && CommandReply.Categories(spec).Contains(category)))
                names.Add(spec.Name.ToLowerInvariant());
        }

        if (call.Count == 5 && !call.Is(3, "MODULE"u8) && !call.Is(3, "ACLCAT"u8) && !call.Is(3, "PATTERN"u8))
            return call.Fail(Fault.Syntax);
        call.Out.Array(names.Count);
        foreach (string name in names)
            call.Out.Bulk(name);
        return Reply.Sent;
    }
}

internal readonly struct CommandGetKeys : ICommand
{
    public static CommandSpec Spec => CommandCommands.Spec("COMMAND|GETKEYS", -4, "command [arg [arg ...]]", "Returns the keys among the arguments of a command.", "2.8.13");

    public static Reply Run(ref Call call)
    {
        if (!CommandCommands.TryKeys(ref call, 2, out _, out KeyPositions positions, out Reply failed))
            return failed;
        call.Out.Array(positions.Count);
        for (int i = 0; i < positions.Count; i++)
            call.Out.Bulk(call[positions[i]]);
        return Reply.Sent;
    }
}

internal readonly struct CommandGetKeysAndFlags : ICommand
{
    public static CommandSpec Spec => CommandCommands.Spec("COMMAND|GETKEYSANDFLAGS", -4, "command [arg [arg ...]]", "Returns the keys among the arguments of a command and how they are used.", "7.0.0");

    public static Reply Run(ref Call call)
    {
        if (!CommandCommands.TryKeys(ref call, 2, out KeySpec keys, out KeyPositions positions, out Reply failed))
            return failed;
        call.Out.Array(positions.Count);
        for (int i = 0; i < positions.Count; i++)
        {
            call.Out.Array(2);
            call.Out.Bulk(call[positions[i]]);
            CommandReply.WriteUsage(call.Out, positions.UsageAt(ref call, 2, keys, i));
        }

        return Reply.Sent;
    }
}
