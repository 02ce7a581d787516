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
        IReadOnlyList<RulePart> own = selectors[0].Told;
        call.Out.Map(3 + own.Count);
        call.Out.Bulk("flags"u8);
        call.Out.Set(flags.Length);
        foreach (string flag in flags)
            call.Out.Bulk(flag);
        call.Out.Bulk("passwords"u8);
        AclCommands.Bulks(ref call, [.. rights.Passwords]);
        WriteParts(ref call, own);
        call.Out.Bulk("selectors"u8);
        call.Out.Array(selectors.Length - 1);
        foreach (Selector selector in selectors[1..])
        {
            IReadOnlyList<RulePart> parts = selector.Told;
            call.Out.Map(parts.Count);
            WriteParts(ref call, parts);
        }

        return Reply.Sent;
    }

    private static void WriteParts(ref Call call, IReadOnlyList<RulePart> parts)
    {
        foreach (RulePart part in parts)
        {
            call.Out.Bulk(part.Name);
            AclCommands.Bulk(ref call, part.Text);
        }
    }
}
