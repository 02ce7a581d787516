using Garnet.Server.Clients;

namespace Garnet.Server.Test;

/// <summary>INFO latencystats: a bound for each percentile of the commands that are timed by themselves.</summary>
public sealed class LatencyStatsTests
{
    [Test]
    public void Percentiles_are_those_asked_for_and_go_with_tracking()
    {
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        client.Call("KEYS", "*");
        Assert.That(client.Call("INFO", "latencystats"), Does.Match(@"latency_percentiles_usec_keys:p50=\d+\.000,p99=\d+\.000,p99\.9=\d+\.000\r\n"));
        client.Call("CONFIG", "SET", "latency-tracking-info-percentiles", "25 100");
        Assert.That(client.Call("INFO", "latencystats"), Does.Match(@"usec_keys:p25=\d+\.000,p100=\d+\.000\r\n"));
        client.Call("CONFIG", "SET", "latency-tracking", "no");
        Assert.That(client.Call("INFO", "latencystats"), Does.Not.Contain("usec_keys"));
        Assert.That(client.Call("LATENCY", "HISTOGRAM"), Is.EqualTo("[]"));
    }

    [TestCase(50, 4)]
    [TestCase(75, 4)]
    [TestCase(76, 16)]
    [TestCase(100, 16)]
    [TestCase(0, 4)]
    public void A_bound_is_the_upper_end_of_the_bucket_in_which_the_percentile_lies(double percentile, long bound) =>
        Assert.That(ReactorFigures.BoundOf([0, 0, 3, 0, 1], percentile), Is.EqualTo(bound));
}
