using System.Globalization;
using Garnet.Replication;
using Garnet.Server.Replication;
using Tsavorite;

namespace Garnet.Server.Test.Replication;

/// <summary>A primary and replicas in this process, and what tests want to know of them.</summary>
internal static class ReplicaGroup
{
    internal const int WaitMs = 30_000;

    /// <summary>A replica of the port, which may be a proxy's.</summary>
    public static EmbeddedServer ReplicaOf(int port, Action<ServerSettings>? adjust = null, Garnet.Common.Time.IClock? clock = null) => new(clock: clock, adjust: settings =>
    {
        settings.Replication.ReplicaOf = ["127.0.0.1", port.ToString(CultureInfo.InvariantCulture)];
        adjust?.Invoke(settings);
    });

    /// <summary>A replica whose link is cut again and again before batches come would wait longer and longer; it does not.</summary>
    public static void ComesBackAtOnce(ServerSettings settings) => settings.Replication.PauseMsMax = 100;

    /// <summary>Waits until the replica shows all that anybody can have seen on the primary by now.</summary>
    public static void CatchUp(EmbeddedServer replica, EmbeddedServer primary)
    {
        (uint term, ulong batch) = primary.Server.Replication.Position.Token();
        primary.Server.Replication.Log.Leading?.Demand(batch);
        Assert.That(() => replica.Server.Replication.Position.Reached(term, batch), Is.EqualTo(TokenState.Reached).After(WaitMs, 5),
            () => $"its link: {replica.Server.Replication.Role.Following?.Problem}; it is at {replica.Server.Replication.Position.Token()}");
    }

    /// <summary>Waits until the server has taken the role: it says so as soon as it is on its way there.</summary>
    public static void AwaitRole(EmbeddedServer server, string role)
    {
        using var client = new TestClient(server.Server.Port);
        Assert.That(() => client.Call("ROLE").StartsWith('[' + role, StringComparison.Ordinal) && !server.Server.Replication.Role.IsChanging, Is.True.After(WaitMs, 5));
    }

    /// <summary>All of database 0, and that the store is sound.</summary>
    public static SortedDictionary<string, string> ContentOf(EmbeddedServer server)
    {
        Store store = server.Server.Store;
        Assert.That(StoreCheck.Run(store), Is.Empty);
        return StoreContent.Of(store, store.Namespaces.Id(0));
    }

    /// <summary>What REPL DIGEST says of the data.</summary>
    public static string DigestOf(EmbeddedServer server)
    {
        using var client = new TestClient(server.Server.Port);
        string reply = client.Call("REPL", "DIGEST");
        return reply[reply.IndexOf("keys", StringComparison.Ordinal)..];
    }

    public static void AssertSame(EmbeddedServer primary, params EmbeddedServer[] replicas)
    {
        foreach (EmbeddedServer replica in replicas)
        {
            CatchUp(replica, primary);
            SortedDictionary<string, string> theirs = ContentOf(replica), ours = ContentOf(primary);
            Assert.That(theirs, Is.EqualTo(ours), () => string.Join('\n', theirs.Except(ours).Concat(ours.Except(theirs)).Take(4)));
            Assert.That(DigestOf(replica), Is.EqualTo(DigestOf(primary)));
        }
    }
}
