using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Replication;
using Garnet.Server.Tls;

namespace Garnet.Server.Families.Replication;

/// <summary>
/// SYNC and PSYNC: all data as an RDB file down the connection, for redis-cli --rdb and whoever makes backups the same way. Nothing
/// follows the file. A Redis that wants to be a replica is told so before it gets anything: it would believe that it follows.
/// </summary>
internal static class SyncCommands
{
    internal static void Register(CommandTable table)
    {
        table.Add<Sync>();
        table.Add<PSync>();
        table.Add<ReplConf>();
    }

    internal static CommandSpec Spec(string name, int arity, CommandFlags flags, string syntax, string summary, string since) =>
        new(name, arity, CommandFlags.Admin | CommandFlags.NoScript | flags)
        {
            Group = "server",
            Syntax = syntax,
            Summary = summary,
            Since = since,
            Categories = "dangerous",
        };

    internal static Reply Run(ref Call call, bool tellsPlace)
    {
        ReplicationNode replication = call.Server.Replication;
        SyncTerms terms = call.Client.Sync ?? new SyncTerms();
        if (replication.IsReplica && replication.Role.Following is not { IsUp: true })
            return call.FailBytes("NOMASTERLINK Can't SYNC while not connected with my master"u8);
        if (terms.Listens && !terms.RdbOnly)
            return call.FailBytes("ERR this server streams changes to servers of its own kind only: a Redis cannot be its replica. "u8 +
                "redis-cli --rdb and MIGRATE take data over"u8);
        if (!terms.KnowsEof)
            return call.FailBytes("ERR the length of the data is not known before they are sent: say REPLCONF capa eof first, as "u8 +
                "redis-cli --rdb does from version 6 on"u8);
        if (!replication.Shipping.Exports.HasRoom)
            return call.FailBytes("ERR too many exports are under way"u8);
        // What follows is no RESP: nothing may be under way in either direction.
        if (!call.IsAlone || ReplicationCommands.Free(ref call) is not { } socket)
            return call.FailBytes("ERR SYNC must stand alone: send it after the replies to all before it"u8);
        replication.Shipping.Exports.Begin(socket, terms, call.Client.Peer.RemoteHost, tellsPlace);
        return Reply.Sent;
    }
}

internal readonly struct Sync : ICommand
{
    public static CommandSpec Spec => SyncCommands.Spec("SYNC", 1, CommandFlags.NoMulti, "", "Sends all data as an RDB file.", "1.0.0");

    public static Reply Run(ref Call call) => SyncCommands.Run(ref call, tellsPlace: false);
}

internal readonly struct PSync : ICommand
{
    public static CommandSpec Spec => SyncCommands.Spec("PSYNC", -3, CommandFlags.NoMulti, "replicationid offset", "Sends all data as an RDB file, whatever place it is asked for.", "2.8.0");

    public static Reply Run(ref Call call) => SyncCommands.Run(ref call, tellsPlace: true);
}

/// <summary>REPLCONF option value …: what a connection says of itself before SYNC.</summary>
internal readonly struct ReplConf : ICommand
{
    public static CommandSpec Spec => SyncCommands.Spec("REPLCONF", -1, CommandFlags.Loading | CommandFlags.Stale | CommandFlags.AllowBusy, "[option value ...]", "Says what a connection that wants all data is and can do.", "3.0.0");

    public static Reply Run(ref Call call)
    {
        if (call.Count % 2 == 0)
            return call.Fail(Fault.Syntax);
        SyncTerms terms = call.Client.Sync ??= new SyncTerms();
        for (int i = 1; i < call.Count; i += 2)
        {
            Reply reply = Take(ref call, i, terms);
            if (reply != Reply.Sent)
                return reply;
        }

        return call.Ok();
    }

    private static Reply Take(ref Call call, int at, SyncTerms terms)
    {
        if (call.Is(at, "CAPA"u8))
        {
            terms.KnowsEof |= call.Is(at + 1, "EOF"u8);
            return Reply.Sent;
        }

        if (call.Is(at, "RDB-ONLY"u8))
        {
            if (!call.TryInt64(at + 1, out long only))
                return call.Fail(Fault.NotAnInteger);
            terms.RdbOnly = only != 0;
            return Reply.Sent;
        }

        if (call.Is(at, "RDB-FILTER-ONLY"u8))
        {
            bool isKnown = call.Is(at + 1, "FUNCTIONS"u8);
            terms.OnlyFunctions = isKnown;
            return isKnown || call[at + 1].IsEmpty
                ? Reply.Sent
                : call.FailText($"ERR Unsupported rdb-filter-only option: {call.Text(at + 1)}");
        }

        bool listens = call.Is(at, "LISTENING-PORT"u8) || call.Is(at, "IP-ADDRESS"u8);
        terms.Listens |= listens;
        return listens || call.Is(at, "VERSION"u8) ? Reply.Sent : call.FailText($"ERR Unrecognized REPLCONF option: {call.Text(at)}");
    }
}
