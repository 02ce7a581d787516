using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Rights;

namespace Garnet.Server.Families.Acl;

/// <summary>ACL LOG: who was refused what.</summary>
internal readonly struct AclLog : ICommand
{
    private const long EntriesByDefault = 10;
    private const double MsPerSecond = 1000;

    public static CommandSpec Spec => AclCommands.Spec("ACL|LOG", -2, "[count | RESET]", "Lists the last refusals, or forgets them.", CommandFlags.Admin);

    public static Reply Run(ref Call call)
    {
        if (call.Count > 3)
            return call.WrongSubcommandArity();
        DenialLog log = call.Server.Rights.Denials;
        if (call.Count == 3 && call.Is(2, "RESET"u8))
        {
            log.Clear();
            return call.Ok();
        }

        long count = EntriesByDefault;
        if (call.Count == 3 && !call.TryInt64(2, out count))
            return call.Fail(Fault.NotAnInteger);
        List<Denial> entries = log.Newest(count);
        call.Out.Array(entries.Count);
        foreach (Denial entry in entries)
            Write(ref call, entry);
        return Reply.Sent;
    }

    private static void Write(ref Call call, Denial entry)
    {
        call.Out.Map(7);
        call.Out.Bulk("count"u8);
        call.Out.Int(entry.Count);
        WriteText(ref call, "reason", entry.Reason.ToString().ToLowerInvariant());
        WriteText(ref call, "context", entry.Place.ToString().ToLowerInvariant());
        WriteText(ref call, "object", entry.Object);
        WriteText(ref call, "username", entry.User);
        call.Out.Bulk("age-seconds"u8);
        call.Out.Double(Math.Max(call.NowMs - entry.UnixMs, 0) / MsPerSecond);
        WriteText(ref call, "client-info", entry.Client);
    }

    private static void WriteText(ref Call call, string name, string text)
    {
        call.Out.Bulk(name);
        AclCommands.Bulk(ref call, text);
    }
}
