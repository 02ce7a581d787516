using Garnet.Common.Test;
using NUnit.Framework;

namespace Garnet.Wire.Clients;

/// <summary>
/// Clients of other languages, each driven by a script beside this file: it gets the port and the name of a scenario, and
/// ends with 0 if all was as it should be. In the scenario <c>reconnect</c> it prints a line when it wants the server
/// restarted and reads one when that is done.
/// </summary>
[TestFixture]
internal sealed class ScriptedClientTests
{
    private static readonly string[] Scenarios = ["basics", "expiry", "pipelines", "pubsub", "scan", "resp3", "big", "lock"];

    private static IEnumerable<object[]> Cases() =>
        from script in new[] { "redis_py.py", "ioredis.js", "node_redis.js" }
        from scenario in Scenarios
        select new object[] { script, scenario };

    [TestCaseSource(nameof(Cases))]
    public void A_client_goes_through(string script, string scenario)
    {
        ClientRun run = ClientRun.OfScript(script, Servers.Ours, scenario);
        run.Verify();
    }

    [Test]
    public void A_client_with_a_cache_of_its_own_reads_nothing_stale()
    {
        using ServerProcess server = ServerProcess.TryStartOurs("--databases 16") ?? throw new IgnoreException("our server is not built"); // the client empties it
        ClientRun.OfScript("node_redis.js", server, "cache").Verify();
    }

    [TestCase("redis_py.py")]
    [TestCase("ioredis.js")]
    [TestCase("node_redis.js")]
    public void A_client_reconnects_after_a_restart(string script)
    {
        using RestartableServer server = new();
        using System.Diagnostics.Process client = System.Diagnostics.Process.Start(new System.Diagnostics.ProcessStartInfo(
            ClientRun.Interpreter(script), [ClientRun.Script(script), server.PortText, "reconnect"])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
        Task<string> errors = client.StandardError.ReadToEndAsync();
        string? line = client.StandardOutput.ReadLine();
        if (line == "restart")
        {
            server.Restart();
            client.StandardInput.WriteLine("done");
            client.StandardInput.Flush();
        }
        string rest = client.StandardOutput.ReadToEnd();
        client.WaitForExit();
        if (client.ExitCode == ClientRun.MissingCode) Assert.Ignore(line ?? "");
        Assert.That(client.ExitCode, Is.Zero, errors.InTime() + rest);
        Assert.That(line, Is.EqualTo("restart"));
    }
}
