using System.Globalization;
using Garnet.Aof;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;

namespace Garnet.Server.Test.Replication;

/// <summary>A server that gets all data of another one keeps what it had until they are whole (replication.F2, replication.F3).</summary>
public sealed class CopyBesideTests
{
    private const int OldKeys = 4000, NewKeys = 2000, ValueBytes = 8000, CutBytes = 3_000_000;

    [Test]
    public void F2_who_is_promoted_amid_a_full_copy_leads_with_what_it_had([Values] bool keepsData)
    {
        MemoryDisk? disk = keepsData ? new() : null;
        using EmbeddedServer primary = Primary();
        using CuttingProxy proxy = new(primary.Server.Port, static _ => CutBytes);
        using (EmbeddedServer server = new(directory: DirectoryOn(disk)))
        {
            using TestClient client = Filled(server);
            BeginCopy(server, client, proxy.Port);
            Assert.That(client.Call("REPLICAOF", "NO", "ONE"), Is.EqualTo("OK"));
            Assert.That(client.Call("SET", "more", "1"), Is.EqualTo("OK"));
            AssertOld(client, OldKeys + 1);
            using EmbeddedServer replica = ReplicaGroup.ReplicaOf(server.Server.Port);
            ReplicaGroup.AssertSame(server, replica);
        }
        if (!keepsData) return;
        using EmbeddedServer again = new(directory: DirectoryOn(disk));
        again.Server.Loaded.Await();
        using TestClient later = new(again.Server.Port);
        AssertOld(later, OldKeys + 1);
    }

    [Test]
    public void F2_a_copy_that_comes_to_its_end_is_all_there_is([Values] bool keepsData)
    {
        MemoryDisk? disk = keepsData ? new() : null;
        using EmbeddedServer primary = Primary(), server = new(directory: DirectoryOn(disk));
        using TestClient client = Filled(server);
        client.Call("SELECT", "7");
        client.Call("SET", "elsewhere", "1");
        client.Call("FUNCTION", "LOAD", "#!lua name=old\nredis.register_function('f', function() return 1 end)");
        client.Call("REPLICAOF", "127.0.0.1", Port(primary.Server.Port));
        Assert.That(() => server.Server.Replication.Role.Following is { IsUp: true }, Is.True.After(ReplicaGroup.WaitMs, 5));
        ReplicaGroup.AssertSame(primary, server);
        Assert.That(client.Call("DBSIZE"), Is.EqualTo("0"));
        Assert.That(client.Call("FUNCTION", "LIST"), Is.EqualTo("[]"));
        Assert.That(() => server.Server.Store.Figures().UsedBytes, Is.LessThan(primary.Server.Store.Figures().UsedBytes * 3 / 2).After(ReplicaGroup.WaitMs, 5), "what was here before is given back");
    }

    [Test]
    public void F2_a_copy_that_goes_on_elsewhere_leaves_what_was_here_before_to_lead_with()
    {
        using EmbeddedServer primary = Primary(), other = Primary(), server = new();
        using CuttingProxy proxy = new(primary.Server.Port, static _ => CutBytes), next = new(other.Server.Port, static _ => CutBytes);
        using TestClient client = Filled(server);
        BeginCopy(server, client, proxy.Port);
        BeginCopy(server, client, next.Port);
        Assert.That(() => next.Passed, Is.GreaterThan(CutBytes / 2).After(ReplicaGroup.WaitMs, 5));
        client.Call("REPLICAOF", "NO", "ONE");
        client.Call("SET", "more", "1");
        AssertOld(client, OldKeys + 1);
    }

    [Test]
    public void F3_what_was_here_before_gives_way_if_both_do_not_fit_into_maxmemory()
    {
        using EmbeddedServer primary = Primary();
        using CuttingProxy proxy = new(primary.Server.Port, static connection => connection == 0 ? CutBytes : long.MaxValue);
        using EmbeddedServer server = new(adjust: static settings => settings.Memory.MaxMemoryBytes = 20 << 20);
        using TestClient client = Filled(server);
        client.Call("REPLICAOF", "127.0.0.1", Port(proxy.Port));
        Assert.That(() => server.Server.Replication.Role.Following is { IsUp: true }, Is.True.After(ReplicaGroup.WaitMs, 5));
        ReplicaGroup.AssertSame(primary, server);
    }

    private static EmbeddedServer Primary()
    {
        EmbeddedServer primary = new();
        using var client = new TestClient(primary.Server.Port);
        for (int i = 0; i < NewKeys; i++) client.Call("SET", $"k{i}", new string((char)('a' + (i % 26)), ValueBytes));
        return primary;
    }

    private static TestClient Filled(EmbeddedServer server)
    {
        server.Server.Loaded.Await();
        var client = new TestClient(server.Server.Port);
        for (int i = 0; i < OldKeys; i++) client.Call("SET", $"old{i}", $"{i}");
        return client;
    }

    private static void BeginCopy(EmbeddedServer server, TestClient client, int port)
    {
        Assert.That(client.Call("REPLICAOF", "127.0.0.1", Port(port)), Is.EqualTo("OK"));
        Assert.That(() => server.Server.Replication.Role.Follower is { IsTorn: true, SnapshotBytes: > 0 }, Is.True.After(ReplicaGroup.WaitMs, 1));
    }

    private static void AssertOld(TestClient client, int keys)
    {
        Assert.That(client.Call("DBSIZE"), Is.EqualTo(keys.ToString(CultureInfo.InvariantCulture)));
        for (int i = 0; i < OldKeys; i += 97) Assert.That(client.Call("GET", $"old{i}"), Is.EqualTo($"{i}"));
        Assert.That(client.Call("EXISTS", "k1"), Is.EqualTo("0"));
    }

    private static DataDirectory? DirectoryOn(MemoryDisk? disk) => disk is null ? null : DataDirectory.OpenUnlocked(disk);

    private static string Port(int port) => port.ToString(CultureInfo.InvariantCulture);
}
