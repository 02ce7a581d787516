using Garnet.Common.Test;
using Garnet.Server.Test.Replication;
using NUnit.Framework;

namespace Garnet.Wire.Takeover;

/// <summary>garnet-server migrate when a connection, the tool itself or the target ends: what was counted is right afterwards, or it says what to do.</summary>
[Parallelizable] // its servers are its own
internal sealed class TakeoverLinkTests
{
    private static readonly int Cuts = LongRun.IsWanted ? 6 : 3;

    [Test]
    public void A_link_to_the_source_that_is_cut_in_the_stream_goes_on_where_the_target_is()
    {
        using var pair = new Pair();
        // After one that asks who it is the stream and what asks for the offset take turns. One has the copy of two keys.
        using var proxy = new CuttingProxy(pair.Redis.Address.Port, static connection => connection < 2 * Cuts && connection % 2 == 1 ? 90_000 + connection * 7 : long.MaxValue) { IsGentle = true };
        using (Migration run = Migration.Begin($"127.0.0.1:{proxy.Port}", $"{pair.Ours.Address}"))
        {
            pair.WriteUntil(() => proxy.Connections > 2 * Cuts + 1, run);
            Assert.That(run.Said, Does.Contain("A connection is lost").And.Contain("Connected again"));
            run.Kill();
        }
        pair.AssertSame();
    }

    // After each of so many bytes of answers, also to EXEC: whether it was done is not known then.
    [Test]
    public void A_link_to_the_target_that_is_cut_in_the_stream_applies_nothing_twice()
    {
        using var pair = new Pair();
        using var proxy = new CuttingProxy(pair.Ours.Address.Port, static connection => connection < 2 * Cuts ? 60_000 + connection * 13 : long.MaxValue);
        using (Migration run = Migration.Begin($"{pair.Redis.Address}", $"127.0.0.1:{proxy.Port}"))
        {
            pair.WriteUntil(() => proxy.Connections > 2 * Cuts, run);
            run.Kill();
        }
        pair.AssertSame();
    }

    [Test]
    public void A_tool_that_is_killed_in_the_stream_goes_on_by_its_place()
    {
        using var pair = new Pair();
        for (int kill = 0; kill < Cuts; kill++)
        {
            using Migration run = Migration.Begin($"{pair.Redis.Address}", $"{pair.Ours.Address}");
            run.Await(kill == 0 ? "Following" : "Going on at offset");
            int rounds = 0;
            pair.WriteUntil(() => rounds++ > kill, run);
            run.Kill();
        }
        pair.AssertSame();
    }

    [Test]
    public void Two_tools_at_once_apply_nothing_twice()
    {
        using var pair = new Pair();
        using (Migration first = Migration.Begin($"{pair.Redis.Address}", $"{pair.Ours.Address}"))
        {
            first.Await("Following");
            using Migration second = Migration.Begin($"{pair.Redis.Address}", $"{pair.Ours.Address}");
            second.Await("Going on at offset");
            pair.WriteUntil(() => (first.Said + second.Said).Contains("somebody else has changed"), first);
            first.Kill();
            second.Kill();
        }
        pair.AssertSame();
    }

    [Test]
    public void A_link_that_is_cut_in_the_copy_says_so_and_another_run_begins_anew()
    {
        using var pair = new Pair();
        for (int i = 0; i < 200; i++) pair.At.Call("SET", $"k{i}", new string('v', 10_000));
        using var toSource = new CuttingProxy(pair.Redis.Address.Port, static _ => 40_000);
        using var toTarget = new CuttingProxy(pair.Ours.Address.Port, static connection => connection == 1 ? 500 : long.MaxValue);
        pair.At.Call("CONFIG", "SET", "rdbcompression", "no");
        (int code, string said) = Migration.Run(new System.Net.IPEndPoint(System.Net.IPAddress.Loopback, toSource.Port), pair.Ours.Address);
        Assert.That(code, Is.EqualTo(1), said);
        Assert.That(said, Does.Contain("in the middle of the copy").And.Contain("--replace").And.Contain("client-output-buffer-limit"));
        (code, said) = Migration.Run(pair.Redis.Address, new System.Net.IPEndPoint(System.Net.IPAddress.Loopback, toTarget.Port), "--replace");
        Assert.That(code, Is.EqualTo(1), said);
        Assert.That(said, Does.Contain("in the middle of the copy").And.Contain("--replace").And.Contain("see to the target"));
        Assert.That(said, Does.Not.Contain("client-output-buffer-limit"), "the source is well");
        (code, said) = pair.Migrate("--replace", "--until-caught-up", "--verify", "all");
        Assert.That(code, Is.Zero, said);
        Assert.That(said, Does.Contain("Compared 200 of 200 keys: 0 differ."));
    }

    [Test]
    public void A_target_that_comes_back_without_its_data_ends_it()
    {
        using var pair = new Pair();
        pair.At.Call("SET", "k", "v");
        using Migration run = Migration.Begin($"{pair.Redis.Address}", $"{pair.Ours.Address}");
        run.Await("Following");
        pair.Ours.Dispose();
        pair.At.Call("INCR", "n");
        run.Await("A connection is lost");
        using ServerProcess again = ServerProcess.TryStartOurs("--databases 16", pair.Ours.Address.Port)!;
        (int code, string said) = run.End();
        Assert.That(code, Is.EqualTo(65), said);
        Assert.That(said, Does.Contain("has lost what it had").And.Contain("--replace"));
    }

    [Test]
    public void A_source_that_is_not_the_one_before_is_not_followed()
    {
        using var pair = new Pair();
        pair.At.Call("SET", "k", "v");
        Assert.That(pair.Migrate("--until-caught-up").Code, Is.Zero);
        using ServerProcess another = ServerProcess.TryStartRedis("--repl-diskless-sync-delay 0")!;
        (int code, string said) = Migration.Run(another.Address, pair.Ours.Address, "--cut-over");
        Assert.That(code, Is.EqualTo(65), said);
        Assert.That(said, Does.Contain("cannot go on where the target is").And.Contain("--replace"));
        Assert.That(pair.Other.Call("GET", "k").Text, Is.EqualTo("v"));
    }
}
