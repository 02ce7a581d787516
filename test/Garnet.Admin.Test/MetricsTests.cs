using System.Globalization;
using System.Net.Sockets;
using Garnet.Server.Telemetry;

namespace Garnet.Admin.Test;

[Parallelizable(ParallelScope.Self)]
public sealed class MetricsTests
{
    [Test]
    public void Metrics_are_valid_and_declared()
    {
        using var server = new AdminServer();
        foreach (string line in (ReadOnlySpan<string>)["SET k v", "GET k", "GET none", "SUNIONSTORE a b", "NONSENSE", "INCR k", "EVAL return{err='a\\\"b\\\\c'} 0"])
            server.Command(line);
        string answer = server.Get("/metrics");
        Assert.That(answer, Does.Contain("Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"));
        OpenMetrics metrics = OpenMetrics.Read(AdminServer.BodyOf(answer));
        string[] declared = [.. ServerTelemetry.Declared.Select(static metric => metric.Family)];
        Assert.That(declared, Is.Unique);
        Assert.That(metrics.Families, Is.EquivalentTo(declared.Where(static name => !name.StartsWith("garnet_tier_", StringComparison.Ordinal))));
        Assert.That(metrics.Samples["redis_up"], Is.EqualTo(1));
        Assert.That(metrics.Samples["redis_commands_total{cmd=\"get\"}"], Is.EqualTo(2));
        Assert.That(metrics.Samples["redis_commands_failed_calls_total{cmd=\"incr\"}"], Is.EqualTo(1));
        Assert.That(metrics.Samples["redis_db_keys{db=\"db0\"}"], Is.EqualTo(1));
        Assert.That(metrics.Samples["redis_keyspace_hits_total"], Is.EqualTo(1));
        Assert.That(metrics.Samples["redis_errors_total{err=\"ERR\"}"], Is.GreaterThanOrEqualTo(1));
    }

    [Test]
    public void A_histogram_counts_each_timed_run_once()
    {
        using var server = new AdminServer();
        for (int i = 0; i < 20; i++)
            server.Command("KEYS *");
        Dictionary<string, double> samples = OpenMetrics.Read(AdminServer.BodyOf(server.Get("/metrics"))).Samples;
        const string Name = "redis_commands_latencies_usec";
        double[] buckets = [.. samples.Where(static one => one.Key.StartsWith(Name + "_bucket{cmd=\"keys\"", StringComparison.Ordinal)).Select(static one => one.Value)];
        Assert.That(buckets, Has.Length.GreaterThan(5).And.Ordered);
        Assert.That(buckets[^1], Is.EqualTo(20));
        Assert.That(samples[Name + "_count{cmd=\"keys\"}"], Is.EqualTo(20));
        Assert.That(samples, Does.ContainKey(Name + "_bucket{cmd=\"keys\",le=\"+Inf\"}"));
    }

    /// <summary>What does not change between two looks has one number under both its names.</summary>
    [Test]
    public void INFO_and_metrics_have_the_same_figures()
    {
        using var server = new AdminServer();
        using var held = new TcpClient("127.0.0.1", server.ServerPort);
        server.Command("SET k v");
        server.Command("GET k");
        Dictionary<string, string> info = server.Info();
        Dictionary<string, double> samples = OpenMetrics.Read(AdminServer.BodyOf(server.Get("/metrics"))).Samples;
        string[] fields = ["keyspace_hits", "maxmemory", "used_memory_dataset", "maxclients", "aof_enabled", "process_id", "garnet_reactors", "rejected_connections", "connected_slaves", "expired_keys"];
        foreach (MetricDeclaration metric in ServerTelemetry.Declared.Where(metric => fields.Contains(metric.Source)))
            Assert.That(samples[metric.Name].ToString(CultureInfo.InvariantCulture), Is.EqualTo(info[metric.Source]), metric.Name);
        string[] lost = [.. ServerTelemetry.Declared.Where(metric => metric.Source.Length > 0 && !metric.Name.StartsWith("garnet_tier_", StringComparison.Ordinal)
            && !metric.Name.StartsWith("garnet_bulk_", StringComparison.Ordinal) && !metric.Name.StartsWith("garnet_backup", StringComparison.Ordinal) && !metric.Name.Contains("_aof_", StringComparison.Ordinal)).Select(static metric => metric.Source).Where(field => !info.ContainsKey(field))];
        Assert.That(lost, Is.Empty, "each names a field of INFO");
    }

    [Test]
    public void A_server_with_a_tier_has_its_metrics_too()
    {
        using TemporaryFolder tier = new();
        using var server = new AdminServer(settings: [("tier-path", tier.Path), ("tier-size", "64mb"), ("maxmemory", "64mb")]);
        OpenMetrics metrics = OpenMetrics.Read(AdminServer.BodyOf(server.Get("/metrics")));
        Assert.That(metrics.Families, Is.EquivalentTo(ServerTelemetry.Declared.Select(static metric => metric.Family)));
        Assert.That(metrics.Samples["garnet_tier_size_bytes"].ToString(CultureInfo.InvariantCulture), Is.EqualTo(server.Info()["tier_size_bytes"]));
    }

    [Test]
    public void Metrics_that_others_can_choose_words_for_stay_valid()
    {
        using var server = new AdminServer();
        server.Command("EVAL \"return redis.error_reply('A\\\"B\\\\\\\\C x')\" 0");
        OpenMetrics metrics = OpenMetrics.Read(AdminServer.BodyOf(server.Get("/metrics")));
        Assert.That(metrics.Samples.Keys, Has.Some.Contain("A\\\"B\\\\C"), string.Join('\n', metrics.Samples.Keys.Where(static key => key.StartsWith("redis_errors", StringComparison.Ordinal))));
    }

    /// <summary>A counter that falls is taken for one that began anew, and all it ever counted is added again.</summary>
    [Test]
    public void The_time_of_a_command_never_falls()
    {
        using var server = new AdminServer();
        server.Command("EVAL \"for i = 1, 300000 do end\" 0");
        for (int i = 0; i < 50; i++)
            server.Command("KEYS *\r\nGET none", 2);
        Dictionary<string, double> before = Times(server);
        for (int i = 0; i < 5000; i += 1000) // short ones, which bring the mean of all that are not timed down
            server.Command(string.Concat(Enumerable.Repeat("PING\r\n", 1000)), 1000);
        Dictionary<string, double> after = Times(server);
        Assert.That(before, Does.ContainKey("redis_commands_duration_seconds_total{cmd=\"keys\"}"));
        foreach ((string name, double seconds) in before)
            Assert.That(after[name], Is.GreaterThanOrEqualTo(seconds), name);
        Assert.That(after.Keys, Has.None.Contains("cmd=\"ping\""), "it is not timed by itself");
    }

    [Test]
    public void Codes_of_errors_that_look_the_same_are_counted_as_one()
    {
        using var server = new AdminServer();
        server.Command("EVAL \"return redis.error_reply('A\\\\1 x')\" 0");
        server.Command("EVAL \"return redis.error_reply('A\\\\2 x')\" 0");
        server.Command("EVAL \"return redis.error_reply('A\\\\2 x')\" 0");
        OpenMetrics metrics = OpenMetrics.Read(AdminServer.BodyOf(server.Get("/metrics"))); // which refuses what comes twice
        Assert.That(metrics.Samples["redis_errors_total{err=\"A?\"}"], Is.EqualTo(3));
    }

    private static Dictionary<string, double> Times(AdminServer server) =>
        OpenMetrics.Read(AdminServer.BodyOf(server.Get("/metrics"))).Samples
            .Where(static one => one.Key.StartsWith("redis_commands_duration_seconds_total", StringComparison.Ordinal)).ToDictionary();
}
