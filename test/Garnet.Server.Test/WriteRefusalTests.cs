using Garnet.Server.Inspect;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>What the operator reads when memory is used up: how much there is, and what helps under the policy in force.</summary>
internal sealed class WriteRefusalTests
{
    [TestCase(EvictionPolicy.NoEviction, "maxmemory-policy is noeviction. Raise maxmemory, choose a policy that evicts, or delete keys")]
    [TestCase(EvictionPolicy.VolatileTtl, "no key with an expiry is left that maxmemory-policy could let go. Raise maxmemory, choose a policy that evicts any key, or delete keys")]
    public void Memory_that_is_used_up_is_told_with_its_figures_and_what_helps(EvictionPolicy policy, string advice)
    {
        var lines = new RecordedLines();
        using var server = new EmbeddedServer(lines: lines, adjust: settings =>
        {
            settings.Memory.MaxMemoryBytes = 8 << 20;
            settings.Memory.Policy = policy;
        });
        using var client = new TestClient(server.Server.Port);
        string value = new('v', 100_000);
        int full = 0;
        for (int i = 0; full < 3 && i < 1000; i++)
        {
            if (client.Call("SET", $"k{i}", i % 2 == 0 ? value : "x").StartsWith("OOM", StringComparison.Ordinal)) full++;
        }

        Assert.That(lines.All.Single(static line => line.Contains("Writes are refused", StringComparison.Ordinal)), Does.Match($"in use, maxmemory is {8 << 20}, and {advice}$"));
    }

    [Test]
    public void Every_cause_is_told() => Assert.That(WriteRefusals.Causes, Is.EqualTo(Enum.GetValues<RefusalCause>()));

    // The timer may have begun a look that comes to its turn behind the end: the store that it would look at is gone by then.
    [Test]
    public void Who_has_ended_looks_no_more()
    {
        using var server = new EmbeddedServer();
        WriteRefusals refusals = server.Server.Refusals;
        refusals.Note(RefusalCause.Replicas);
        refusals.Dispose();
        for (int i = 0; i < 10; i++)
            refusals.Look();
        Assert.That(refusals.Shown, Is.EqualTo("replicas"));
    }

    [Test]
    public void Libraries_that_do_not_fit_twice_are_refused_with_the_reason_and_those_there_were_stay()
    {
        using var server = new EmbeddedServer(adjust: static settings => settings.Memory.MaxMemoryBytes = 16 << 20);
        using var client = new TestClient(server.Server.Port);
        string reply = "";
        int loaded = 0;
        for (; loaded < 40 && !reply.StartsWith("OOM", StringComparison.Ordinal); loaded++)
            reply = client.Call("FUNCTION", "LOAD", $"#!lua name=l{loaded}\nredis.register_function('f{loaded}', function() return {loaded} end) --{new string('x', 1 << 20)}");
        Assert.That(reply, Does.Contain("all libraries are one value, which is in memory twice while it changes"));
        Assert.That(loaded, Is.GreaterThan(4));
        Assert.That(client.Call("FCALL", $"f{loaded - 2}", "0"), Is.EqualTo($"{loaded - 2}"));
    }
}
