using Garnet.Server.Clients;
using Garnet.Server.Rights;

namespace Garnet.Server.Commands;

/// <summary>
/// Who a connection is, and what follows from it. Of a user's rights a connection keeps one bit, whether there is anything to ask about (<see cref="ClientModes.Restricted"/>),
/// and whether it must say who it is; both are its own reactor's.
///
/// commands.U1  Users change in a turn of its own (scripting.G4): no batch is under way then. Every batch compares <see cref="Users.Changes"/> when it begins, and judges the
///     connections of its reactor anew if something has changed: so no command runs by rights that were taken away before it was sent.
/// commands.U2  Whoever has lost his user, or a channel that he listens to, is closed; so are replicas and exports that came as that user.
/// </summary>
internal static class ClientRights
{
    /// <summary>A new connection, or one that begins anew.</summary>
    internal static void BeDefault(ServerContext server, Connection client)
    {
        (client.User, client.IsAuthenticated) = (server.Rights.Users.Default, server.Rights.Users.IsOpen);
        Judge(server, client);
    }

    /// <summary>The connection has shown to be the user.</summary>
    internal static void Become(ServerContext server, Connection client, User user)
    {
        (client.User, client.IsAuthenticated) = (user, true);
        Judge(server, client);
        if (!user.IsGone)
            return;
        client.IsDismissed = true; // removed since he was found
        client.CloseAfterReply = true;
    }

    /// <summary>The connection has shown a certificate with the name: it is the user of that name, if there is one that is on; else it says who it is as others do.</summary>
    internal static bool TryBeCertified(ServerContext server, Connection client, string name)
    {
        if (server.Rights.Users.Find(name) is not { Rights.IsOn: true } user)
            return false;
        Become(server, client, user);
        return true;
    }

    /// <summary>Before a batch: the worker's connections by the rights of now (commands.U1).</summary>
    internal static void TakeOver(Executor worker)
    {
        worker.RightsSeen = worker.Server.Rights.Users.Changes;
        foreach (Connection client in ClientsOf(worker))
        {
            Judge(worker.Server, client);
            if (client.IsDismissed && !client.Closed)
                client.Mute(); // what it has sent does not run any more
        }
    }

    /// <summary>After users have changed, by whoever has the turn: closes those who may not stay (commands.U2).</summary>
    internal static void Dismiss(Executor by)
    {
        TakeOver(by);
        foreach (Worker worker in by.Server.Workers.All)
        {
            foreach (Connection client in ClientsOf(worker))
            {
                if (!client.IsDismissed && MustGo(client))
                    Dismiss(by, client);
            }
        }

        by.Server.Replication.Shipping.EndLost();
    }

    /// <summary>True if the connection must say who it is before anything else.</summary>
    private static bool MustSay(ServerContext server, Connection client) => !client.IsAuthenticated && !server.Rights.Users.IsOpen;

    private static void Dismiss(Executor by, Connection client)
    {
        client.IsDismissed = true;
        if (client == by.Running)
        {
            client.CloseAfterReply = true; // it gets its reply
            return;
        }

        if (client.Worker == by)
            client.Mute(); // what is published behind this in the same batch is not for it
        client.Worker.Post(static (owner, victim, _) => owner.Close(victim!), client);
    }

    private static bool MustGo(Connection client) => client.User is { } user && (user.IsGone || HasLost(client, user.Rights));

    // Each channel is looked at once for each change of the user's rights; what is subscribed to later was judged by those of then
    // (commands.U1).
    private static bool HasLost(Connection client, UserRights rights)
    {
        if (client.ListensBy == rights || client.Subscriptions is not { Count: > 0 } held)
            return false;
        client.ListensBy = rights;
        return Enum.GetValues<ChannelKind>().Any(kind => HasLost(held, kind, rights));
    }

    private static bool HasLost(Subscriptions held, ChannelKind kind, UserRights rights)
    {
        foreach (byte[] name in held.Names(kind))
        {
            if (!rights.AllowsChannel(name, kind == ChannelKind.Pattern))
                return true;
        }

        return false;
    }

    private static void Judge(ServerContext server, Connection client)
    {
        Set(client, ClientModes.Unauthenticated, MustSay(server, client));
        Set(client, ClientModes.Restricted, client.User is { Rights.AllowsEverything: false });
    }

    private static void Set(Connection client, ClientModes mode, bool holds) =>
        client.Modes = holds ? client.Modes | mode : client.Modes & ~mode;

    private static List<Connection> ClientsOf(Worker worker)
    {
        var clients = new List<Connection>(worker.ConnectionCount);
        worker.CopyClientsTo(clients);
        return clients;
    }
}
