using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Families.Scripting;
using Garnet.Server.Rights;
using Garnet.Server.Scripting;

namespace Garnet.Server.Families.Acl;

/// <summary>ACL: users and their rights. Who changes them does so in a turn of its own (commands.U1), and closes those who may not stay.</summary>
internal static class AclCommands
{
    internal static void Register(CommandTable table)
    {
        table.AddContainer(Spec("ACL", -2, "", "Looks at and changes users and their rights."));
        table.Add<AclCat>();
        table.Add<AclDelUser>();
        table.Add<AclDryRun>();
        table.Add<AclGenPass>();
        table.Add<AclGetUser>();
        table.Add<AclList>();
        table.Add<AclLoad>();
        table.Add<AclLog>();
        table.Add<AclSave>();
        table.Add<AclSetUser>();
        table.Add<AclUsers>();
        table.Add<AclWhoAmI>();
    }

    internal static CommandSpec Spec(
        string name, int arity, string syntax, string summary, CommandFlags more = CommandFlags.None, string since = "6.0.0") =>
        new(name, arity, CommandFlags.NoScript | CommandFlags.Loading | CommandFlags.Stale | more)
        {
            Group = "server", Syntax = syntax, Summary = summary, Since = since, Complexity = "O(N)",
        };

    /// <summary>Begins a change of users; false, with the answer, if a script has the turn.</summary>
    internal static bool TryBegin(ref Call call, out ScriptTurns.AloneTurn turn, out Reply busy)
    {
        busy = Reply.Sent;
        if (call.Server.ScriptTurns.TryBegin(call.Worker, out turn))
            return true;
        busy = ScriptHost.Of(call.Worker).Busy(ref call);
        return false;
    }

    /// <summary>A name as users have it.</summary>
    internal static string Name(ref Call call, int index) => RuleText.Of(call[index]);

    /// <summary>Replies text whose characters stand for bytes.</summary>
    internal static void Bulk(ref Call call, string text) => call.Out.Bulk(RuleText.Bytes(text));

    /// <summary>Replies a list of such texts.</summary>
    internal static Reply Bulks(ref Call call, IReadOnlyCollection<string> texts)
    {
        call.Out.Array(texts.Count);
        foreach (string text in texts)
            Bulk(ref call, text);
        return Reply.Sent;
    }
}

internal readonly struct AclWhoAmI : ICommand
{
    public static CommandSpec Spec => AclCommands.Spec("ACL|WHOAMI", 2, "", "Returns the name of the connection's user.") with { Complexity = "O(1)" };

    public static Reply Run(ref Call call)
    {
        AclCommands.Bulk(ref call, call.Client.User?.Name ?? Users.DefaultName);
        return Reply.Sent;
    }
}

internal readonly struct AclUsers : ICommand
{
    public static CommandSpec Spec => AclCommands.Spec("ACL|USERS", 2, "", "Lists the names of the users.", CommandFlags.Admin);

    public static Reply Run(ref Call call) =>
        AclCommands.Bulks(ref call, call.Server.Rights.Users.All().ConvertAll(static user => user.Name));
}

internal readonly struct AclList : ICommand
{
    public static CommandSpec Spec => AclCommands.Spec("ACL|LIST", 2, "", "Lists the users as a file has them.", CommandFlags.Admin);

    public static Reply Run(ref Call call) =>
        AclCommands.Bulks(ref call, call.Server.Rights.Users.All().ConvertAll(static user => user.ToString()));
}

internal readonly struct AclCat : ICommand
{
    public static CommandSpec Spec => AclCommands.Spec("ACL|CAT", -2, "[category]", "Lists the categories, or the commands of one.");

    public static Reply Run(ref Call call)
    {
        if (call.Count > 3)
            return call.WrongSubcommandArity();
        if (call.Count == 2)
            return AclCommands.Bulks(ref call, Array.ConvertAll(CategoryNames.All, static one => one.Name));
        CommandCategories category = CategoryNames.Find(AclCommands.Name(ref call, 2));
        if (category == CommandCategories.None)
            return call.FailBytes([.. "ERR Unknown category '"u8, .. call.Shown(2), (byte)'\'']);
        IEnumerable<CommandSpec> found = call.Server.Commands.Specs.Skip(1).Where(spec => (SpecCategories.Of(spec) & category) != 0);
        return AclCommands.Bulks(ref call, [.. found.Select(static spec => spec.Name.ToLowerInvariant())]);
    }
}

internal readonly struct AclGenPass : ICommand
{
    private const int BitsByDefault = 256, BitsMax = 4096, BitsOfDigit = 4;

    public static CommandSpec Spec => AclCommands.Spec("ACL|GENPASS", -2, "[bits]", "Makes a password of random hexadecimal digits.") with { Complexity = "O(1)" };

    public static Reply Run(ref Call call)
    {
        if (call.Count > 3)
            return call.WrongSubcommandArity();
        long bits = BitsByDefault;
        if (call.Count == 3 && !call.TryInt64(2, out bits))
            return call.Fail(Garnet.Common.Resp.Fault.NotAnInteger);
        if (bits is <= 0 or > BitsMax)
            return call.FailText($"ERR ACL GENPASS argument must be the number of bits for the output password, "
                + $"a positive number up to {BitsMax}");
        int digits = (int)((bits + BitsOfDigit - 1) / BitsOfDigit);
        call.Out.Bulk(System.Security.Cryptography.RandomNumberGenerator.GetHexString(digits, lowercase: true));
        return Reply.Sent;
    }
}

internal readonly struct AclSetUser : ICommand
{
    public static CommandSpec Spec => AclCommands.Spec("ACL|SETUSER", -3, "username [rule [rule ...]]", "Makes a user, or changes its rules; all of them or none.", CommandFlags.Admin | CommandFlags.Alone);

    public static Reply Run(ref Call call)
    {
        string name = AclCommands.Name(ref call, 2);
        if (RuleText.HasBlanks(name))
            return call.FailBytes("ERR Usernames can't contain spaces or null characters"u8);
        if (name.Length > Users.NameBytesMax)
            return call.FailText($"ERR Usernames can't be longer than {Users.NameBytesMax} bytes");
        var words = new string[call.Count - 3];
        for (int i = 0; i < words.Length; i++)
            words[i] = AclCommands.Name(ref call, i + 3);
        if (!RuleWords.TryJoin(words, out List<string> rules, out string unclosed))
            return call.FailText($"ERR Unmatched parenthesis in acl selector starting at '{unclosed}'.");
        if (!AclCommands.TryBegin(ref call, out ScriptTurns.AloneTurn turn, out Reply busy))
            return busy;
        using (turn)
        {
            if (call.Server.Rights.Users.Set(name, rules) is { } wrong)
                return call.FailText($"ERR Error in ACL SETUSER modifier '{wrong.Rule}': {RuleErrorText.Of(wrong.Error)}");
            ClientRights.Dismiss(call.Worker);
        }

        return call.Ok();
    }
}

internal readonly struct AclDelUser : ICommand
{
    public static CommandSpec Spec => AclCommands.Spec("ACL|DELUSER", -3, "username [username ...]", "Removes users and closes their connections.", CommandFlags.Admin | CommandFlags.Alone);

    public static Reply Run(ref Call call)
    {
        for (int i = 2; i < call.Count; i++)
        {
            if (AclCommands.Name(ref call, i) == Users.DefaultName)
                return call.FailBytes("ERR The 'default' user cannot be removed"u8);
        }

        if (!AclCommands.TryBegin(ref call, out ScriptTurns.AloneTurn turn, out Reply busy))
            return busy;
        int removed = 0;
        using (turn)
        {
            for (int i = 2; i < call.Count; i++)
                removed += call.Server.Rights.Users.Remove(AclCommands.Name(ref call, i)) ? 1 : 0;
            ClientRights.Dismiss(call.Worker);
        }

        return call.Int(removed);
    }
}
