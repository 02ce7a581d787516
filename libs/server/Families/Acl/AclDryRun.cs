using Garnet.Common.Resp;
using Garnet.Server.Admission;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Rights;

namespace Garnet.Server.Families.Acl;

/// <summary>ACL DRYRUN: might a user run a command? Nothing is run.</summary>
internal readonly unsafe struct AclDryRun : ICommand
{
    private const int CommandAt = 3;

    public static CommandSpec Spec => AclCommands.Spec("ACL|DRYRUN", -4, "username command [arg [arg ...]]", "Says whether a user may run a command, without running it.", CommandFlags.Admin, "7.0.0");

    public static Reply Run(ref Call call)
    {
        if (call.Server.Rights.Users.Find(AclCommands.Name(ref call, 2)) is not { } user)
            return call.FailBytes([.. "ERR User '"u8, .. call.Shown(2), .. "' not found"u8]);
        CommandTable table = call.Server.Commands;
        var tried = new Call(call.Worker, call.Client, call.Args + CommandAt, call.Count - CommandAt, 0);
        CommandEntry* entry = table.Entries + table.Find(tried.Args, tried.Count);
        if (!entry->IsNamedBy(tried.Count))
            return call.FailBytes([.. "ERR Command '"u8, .. call.Shown(CommandAt), .. "' not found"u8]);
        if (!entry->Takes(tried.Count))
            return call.FailText(FaultText.WrongArity(table.Specs[entry->Id].Name));
        if (UserRefusals.Explain(ref tried, entry, user.Rights) is not { } why)
            return call.Ok();
        AclCommands.Bulk(ref call, why);
        return Reply.Sent;
    }
}
