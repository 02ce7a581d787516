using System.Net.Sockets;
using Garnet.Common;
using Garnet.Server.Telemetry;

namespace Garnet.Admin.Test;

[Parallelizable(ParallelScope.Self)]
public sealed class HealthTests
{
    [Test]
    public void A_server_that_lacks_nothing_is_healthy_and_ready()
    {
        using var server = new AdminServer();
        Assert.That(AdminServer.BodyOf(server.Get("/healthz")), Is.EqualTo("ok\n"));
        string ready = server.Get("/readyz");
        Assert.That(AdminServer.StatusOf(ready), Is.EqualTo(200));
        Assert.That(AdminServer.BodyOf(ready), Is.EqualTo("serving: ok\nloaded: ok\ncaught-up: ok\nwritable: ok\nsnapshot: ok\n"));
    }

    [Test]
    public void Without_the_replicas_that_writes_need_it_is_not_ready()
    {
        using var server = new AdminServer(settings: ("min-replicas-to-write", "1"));
        IsUnready(server, "writable: fewer replicas are near than min-replicas-to-write asks for");
        server.Command("CONFIG SET min-replicas-to-write 0");
        Assert.That(AdminServer.StatusOf(server.Get("/readyz")), Is.EqualTo(200));
    }

    [Test]
    public void A_replica_without_its_primary_is_not_ready_and_names_nobody()
    {
        using var nobody = new TcpListener(System.Net.IPAddress.Loopback, 0);
        nobody.Start();
        using var server = new AdminServer(settings: ("replicaof", $"127.0.0.1 {((System.Net.IPEndPoint)nobody.LocalEndpoint).Port}"));
        string body = IsUnready(server, "caught-up: the link to the primary is down");
        Assert.That(body, Does.Not.Contain("127.0.0.1"));
        Assert.That(AdminServer.StatusOf(server.Get("/healthz")), Is.EqualTo(200), "it lives");
    }

    [Test]
    public void A_replica_that_has_caught_up_is_ready()
    {
        using var primary = new AdminServer();
        using var replica = new AdminServer(settings: ("replicaof", $"127.0.0.1 {primary.ServerPort}"));
        primary.Command("SET k v");
        Assert.That(() => AdminServer.StatusOf(replica.Get("/readyz")), Is.EqualTo(200).After(AdminServer.WaitMs, 20));
        OpenMetrics metrics = OpenMetrics.Read(AdminServer.BodyOf(primary.Get("/metrics")));
        Assert.That(metrics.Samples.Keys, Has.Some.StartsWith("garnet_replica_lag_seconds{slave_ip=\"127.0.0.1\""));
        metrics = OpenMetrics.Read(AdminServer.BodyOf(replica.Get("/metrics")));
        Assert.That(metrics.Samples[$"redis_master_link_up{{master_host=\"127.0.0.1\",master_port=\"{primary.ServerPort}\"}}"], Is.EqualTo(1));
    }

    [Test]
    public void A_server_that_is_full_is_ready_for_those_who_read()
    {
        using var server = new AdminServer(settings: ("maxmemory-policy", "noeviction"));
        server.Command("CONFIG SET maxmemory 1");
        Assert.That(server.Command("SET k v"), Does.StartWith("-OOM"));
        Assert.That(server.Info()["garnet_writes_refused"], Is.EqualTo("memory"));
        Assert.That(AdminServer.StatusOf(server.Get("/readyz")), Is.EqualTo(200));
    }

    [Test]
    public void A_snapshot_that_failed_counts_only_where_its_age_does()
    {
        using var folder = new TemporaryFolder();
        using var server = new AdminServer(settings: [("dir", folder.Path), ("appendonly", "no")]);
        server.Command("SET k v");
        Directory.Delete(folder.Path, recursive: true);
        server.Command("SAVE");
        Assert.That(server.Info()["rdb_last_bgsave_status"], Is.EqualTo("err"));
        Assert.That(AdminServer.StatusOf(server.Get("/readyz")), Is.EqualTo(200));
        server.Command("CONFIG SET admin-ready-snapshot-age 3600");
        IsUnready(server, "snapshot: the last snapshot failed");
        Directory.CreateDirectory(folder.Path);
    }

    [Test]
    public void A_snapshot_that_is_too_old_is_told_of()
    {
        using var folder = new TemporaryFolder();
        using var server = new AdminServer(settings: [("dir", folder.Path), ("appendonly", "no"), ("admin-ready-snapshot-age", "1")]);
        Assert.That(() => AdminServer.BodyOf(server.Get("/readyz")), Does.Contain("snapshot: the last snapshot is ").After(AdminServer.WaitMs, 50));
        server.Command("CONFIG SET admin-ready-snapshot-age 3600");
        Assert.That(AdminServer.StatusOf(server.Get("/readyz")), Is.EqualTo(200));
    }

    [Test]
    public void A_port_that_is_taken_is_refused_with_what_to_do()
    {
        using var server = new AdminServer();
        GarnetException refused = Assert.Throws<GarnetException>(() => new AdminServer(settings: ("admin-port", server.Port.ToString(System.Globalization.CultureInfo.InvariantCulture))).Dispose())!;
        Assert.That(refused.Kind, Is.EqualTo(ExitKind.PortInUse));
        Assert.That(refused.Message, Does.Contain("admin-port"));
    }

    [Test]
    public void Who_looks_while_the_server_goes_is_told_so_and_touches_nothing_of_it()
    {
        using var folder = new TemporaryFolder();
        var server = new AdminServer(settings: ("dir", folder.Path));
        ServerTelemetry telemetry = server.Telemetry;
        using var ends = new CancellationTokenSource();
        long looks = 0;
        Task[] lookers = [.. Enumerable.Range(0, 3).Select(_ => Task.Run(() =>
        {
            while (!ends.IsCancellationRequested)
            {
                telemetry.Metrics();
                telemetry.Page(telemetry.Anybody(isLocal: true), withSettings: true);
                telemetry.Ready();
                Interlocked.Increment(ref looks);
            }
        }))];
        Assert.That(() => Interlocked.Read(ref looks), Is.GreaterThan(20).After(AdminServer.WaitMs, 1));
        server.Dispose();
        long then = Interlocked.Read(ref looks);
        Assert.That(() => Interlocked.Read(ref looks), Is.GreaterThan(then + 20).After(AdminServer.WaitMs, 1));
        ends.Cancel();
        Assert.That(Task.WaitAll(lookers, AdminServer.WaitMs));
        Assert.That(telemetry.Ready().Single().Problem, Is.EqualTo("the server has stopped"));
        Assert.That(System.Text.Encoding.UTF8.GetString(telemetry.Metrics()), Is.EqualTo("# EOF\n"));
    }

    private static string IsUnready(AdminServer server, string why)
    {
        string answer = server.Get("/readyz");
        Assert.That(AdminServer.StatusOf(answer), Is.EqualTo(503));
        Assert.That(AdminServer.BodyOf(answer).Split('\n'), Does.Contain(why));
        return AdminServer.BodyOf(answer);
    }
}
