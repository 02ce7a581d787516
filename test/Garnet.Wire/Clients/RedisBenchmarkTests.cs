using NUnit.Framework;

namespace Garnet.Wire.Clients;

/// <summary>redis-benchmark ends at the first error it sees; here it must see none.</summary>
[TestFixture]
internal sealed class RedisBenchmarkTests
{
    [TestCase("1")]
    [TestCase("16")]
    public void Every_test_ends_without_an_error(string pipeline)
    {
        ClientRun run = Benchmark("-t", "ping,set,get,incr,mset", "-P", pipeline, "-n", "20000", "-r", "1000", "--csv");
        string[] rows = run.Output.Split('\n', StringSplitOptions.RemoveEmptyEntries);
        Assert.That(run.Code, Is.Zero, run.Errors);
        Assert.That(rows.Skip(1).Select(row => row.Split('"')[1]), Is.EqualTo(new[] { "PING_INLINE", "PING_MBULK", "SET", "GET", "INCR", "MSET (10 keys)" }));
    }

    [Test]
    public void Large_values_over_many_connections_end_without_an_error()
    {
        ClientRun run = Benchmark("-t", "set,get", "-d", "100000", "-c", "200", "-n", "2000", "-q");
        Assert.That(run.Code, Is.Zero, run.Errors + run.Output);
    }

    private static ClientRun Benchmark(params string[] arguments)
    {
        string port = Servers.Ours.Address.Port.ToString(System.Globalization.CultureInfo.InvariantCulture);
        ClientRun run = ClientRun.Of(ClientRun.Find("redis-benchmark"), ["-p", port, .. arguments]);
        Assert.That(run.Errors + run.Output, Does.Not.Contain("ERR ").And.Not.Contain("Error from server"));
        return run;
    }
}
