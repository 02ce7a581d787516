using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Rights;

namespace Garnet.Server.Families.Acl;

/// <summary>ACL GETUSER: a user's rules, part by part. Databases are told of where a rule restricts them; Redis knows no such part.</summary>
internal readonly struct AclGetUser : ICommand
{
    public static CommandSpec Spec => AclCommands.Spec("ACL|GETUSER", 3, "username", "Returns the rules of a user.", CommandFlags.Admin);

    public static Reply Run(ref Call call)
    {
        if (call.Server.Rights.Users.Find(AclCommands.Name(ref call, 2)) is not { Rights: var rights })
            return call.Null();
        string[] flags = [.. rights.Flags];
        ReadOnlySpan<Selector> selectors = rights.Selectors;
        call.Out.Map(3 + PartsOf(selectors[0]));
        call.Out.Bulk("flags"u8);
        call.Out.Set(flags.Length);
        foreach (string flag in flags)
            call.Out.Bulk(flag);
        call.Out.Bulk("passwords"u8);
        AclCommands.Bulks(ref call, [.. rights.Passwords]);
        WriteParts(ref call, selectors[0]);
        call.Out.Bulk("selectors"u8);
        call.Out.Array(selectors.Length - 1);
        foreach (Selector selector in selectors[1..])
        {
            call.Out.Map(PartsOf(selector));
            WriteParts(ref call, selector);
        }

        return Reply.Sent;
    }

    private static int PartsOf(Selector selector) => selector.AllowsAllDatabases ? 3 : 4;

    private static void WriteParts(ref Call call, Selector selector)
    {
        WritePart(ref call, "commands", selector.CommandText);
        WritePart(ref call, "keys", selector.KeyText);
        WritePart(ref call, "channels", selector.ChannelText);
        if (!selector.AllowsAllDatabases)
            WritePart(ref call, "databases", selector.DatabaseText);
    }

    private static void WritePart(ref Call call, string name, string text)
    {
        call.Out.Bulk(name);
        AclCommands.Bulk(ref call, text);
    }
}
