using System.Globalization;
using System.Text;
using Garnet.Server.Clients;

namespace Garnet.Server.Commands;

/// <summary>One line of CLIENT LIST, fields in Redis's order; fields without a meaning here hold Redis's neutral value.</summary>
internal static class ClientLine
{
    internal static string Of(Connection client, ServerContext server)
    {
        long now = client.Worker.NowMs;
        Subscriptions? held = client.Subscriptions;
        var line = new StringBuilder(400);
        line.Append(CultureInfo.InvariantCulture,
            $"id={client.Id} addr={client.Peer.Remote} laddr={client.Peer.Local} fd={client.Descriptor} name={client.Name}");
        line.Append(CultureInfo.InvariantCulture,
            $" age={Math.Max(now - client.CreatedMs, 0) / 1000} idle={Math.Max(now - client.ActiveMs, 0) / 1000} flags={Flags(client)} " +
            $"db={client.Database}");
        line.Append(CultureInfo.InvariantCulture,
            $" sub={held?.Names(ChannelKind.Channel).Count ?? 0} psub={held?.Names(ChannelKind.Pattern).Count ?? 0} " +
            $"ssub={held?.Names(ChannelKind.Shard).Count ?? 0} multi={Queued(client)} " +
            $"watch={(client.Transaction is { Touched: false, Watched: { } watched } ? watched.Watches.Count : 0)}");
        line.Append(CultureInfo.InvariantCulture,
            $" qbuf={client.Pending.Count + (client.Big?.Count ?? 0)} qbuf-free=0 argv-mem=0 " +
            $"multi-mem={client.Transaction?.MemoryBytes ?? 0} rbs=0 rbp=0 obl=0 oll={(client.Out.Count > 0 ? 1 : 0)} " +
            $"omem={client.Out.Capacity + client.Pushes.Capacity} tot-mem={client.MemoryBytes}");
        line.Append(CultureInfo.InvariantCulture,
            $" events={(LooksForRequests(client) ? "r" : "")}{(client.WriteBlocked ? "w" : "")} cmd={CommandName(client, server)} " +
            $"user={client.User?.Name ?? "(superuser)"} redir={client.Tracking?.RedirectId ?? -1} resp={(client.Resp3 ? 3 : 2)} " +
            $"lib-name={client.LibraryName} lib-ver={client.LibraryVersion}");
        line.Append(CultureInfo.InvariantCulture,
            $" io-thread={client.Worker.Index} tot-net-in={client.BytesIn} tot-net-out={client.BytesOut}");
        line.Append(CultureInfo.InvariantCulture, $" tot-cmds={client.Commands - client.PutOff}");
        return line.ToString();
    }

    /// <summary>The same of somebody who is no client, and no user yet: clients take the line apart, and miss a field that is not there.</summary>
    internal static string OfStranger(string from) =>
        $"id=0 addr={from} laddr= fd=-1 name= age=0 idle=0 flags=N db=0 sub=0 psub=0 ssub=0 multi=-1 watch=0"
        + " qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 tot-mem=0"
        + " events= cmd=NULL user= redir=-1 resp=2 lib-name= lib-ver= io-thread=0 tot-net-in=0 tot-net-out=0 tot-cmds=0";

    // One that is parked is looked at too: whether it goes.
    private static bool LooksForRequests(Connection client) =>
        (client.Watched & (WatchedFor.NotReadable | WatchedFor.Parked)) != WatchedFor.NotReadable;

    private static int Queued(Connection client) =>
        (client.Modes & ClientModes.Transaction) != 0 ? client.Transaction?.Queue.Count ?? 0 : -1;

    private static string CommandName(Connection client, ServerContext server) =>
        client.LastCommand == 0 ? "NULL" : server.Commands.Specs[client.LastCommand].Name.ToLowerInvariant();

    private static string Flags(Connection client)
    {
        string flags = "";
        if ((client.Modes & ClientModes.Monitor) != 0)
            flags += "O";
        if (client.Subscriptions is { Count: > 0 })
            flags += "P";
        if ((client.Modes & ClientModes.Transaction) != 0)
            flags += "x";
        if (client.Parked)
            flags += "b";
        if (client.Tracking is { } tracking)
            flags += (tracking.Broken ? "tR" : "t") + ((tracking.Modes & TrackingModes.Broadcast) != 0 ? "B" : "");
        if (client.Transaction is { Touched: true })
            flags += "d";
        if (client.CloseAfterReply)
            flags += "c";
        if (client.NoEvict)
            flags += "e";
        if (client.NoTouch)
            flags += "T";
        if (client.Peer.IsUnix)
            flags += "U";
        return flags.Length == 0 ? "N" : flags;
    }
}
