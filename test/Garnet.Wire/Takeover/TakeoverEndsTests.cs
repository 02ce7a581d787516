using System.Net;
using Garnet.Common.Test;
using NUnit.Framework;

namespace Garnet.Wire.Takeover;

/// <summary>garnet-server migrate between servers that are not what they have to be: one and the same, replicas, with another run at work, or busy.</summary>
[Parallelizable] // its servers are its own
internal sealed class TakeoverEndsTests
{
    private const int PatienceMs = 60_000;

    [TestCase("")]
    [TestCase("--scan")]
    public void A_target_that_is_the_source_under_another_name_keeps_its_data(string scan)
    {
        using ServerProcess redis = Redis();
        using RespConnection at = new(redis.Address);
        at.Call("SET", "k", "v");
        using Migration run = Migration.Begin($"127.0.0.1:{redis.Address.Port}", $"localhost:{redis.Address.Port}", scan.Length > 0 ? [scan, "--replace"] : ["--replace"]);
        (int code, string said) = run.End();
        Assert.That(code, Is.EqualTo(64), said);
        Assert.That(said, Does.Contain("are the same server"));
        Assert.That(at.Call("GET", "k").Text, Is.EqualTo("v"));
    }

    [TestCase(true)]
    [TestCase(false)]
    public void An_end_that_is_not_there_is_said_to_be_that_end_with_what_to_do(bool isSource)
    {
        using ServerProcess ours = Ours();
        IPEndPoint nobody = new(IPAddress.Loopback, FreePorts.Next());
        (int code, string said) = isSource ? Migration.RunHere(nobody, ours.Address) : Migration.RunHere(ours.Address, nobody);
        Assert.That(code, Is.EqualTo(1), said);
        Assert.That(said, Does.Contain($"Given up: the {(isSource ? "source" : "target")} {nobody} is not to be reached: "));
        Assert.That(said, Does.Contain("Start it, or name the address at which this machine reaches it, and run this again."));
    }

    [Test]
    public void A_replica_and_its_primary_are_no_two_ends_and_who_is_one_is_not_cut_over()
    {
        using ServerProcess redis = Redis(), replica = Redis($"--replicaof 127.0.0.1 {redis.Address.Port}"), ours = Ours();
        using RespConnection at = new(redis.Address), behind = new(replica.Address);
        at.Call("SET", "k", "v");
        AwaitThat(() => behind.Call("GET", "k").Text == "v");
        (int code, string said) = Migration.Run(redis.Address, replica.Address, "--replace");
        Assert.That(code, Is.EqualTo(64), said);
        Assert.That(said, Does.Contain("is a replica (READONLY)"));
        (code, said) = Migration.Run(replica.Address, redis.Address, "--replace");
        Assert.That(code, Is.EqualTo(64), said);
        Assert.That(said, Does.Contain($"is a replica of {redis.Address}"));
        Assert.That(at.Call("GET", "k").Text, Is.EqualTo("v"));
        (code, said) = Migration.Run(replica.Address, ours.Address, "--cut-over", "--pause-source", "5");
        Assert.That(code, Is.EqualTo(64), said);
        Assert.That(said, Does.Contain("it is a replica, and writers go on at its primary"));
        (code, said) = Migration.Run(replica.Address, ours.Address, "--until-caught-up");
        Assert.That(code, Is.Zero, said);
    }

    [Test]
    public void Writers_that_do_not_wait_keep_the_cut_over_from_being_done()
    {
        using var pair = new Pair();
        pair.At.Call("SET", "near", "v", "PXAT", $"{DateTimeOffset.UtcNow.AddMinutes(30).ToUnixTimeMilliseconds()}");
        pair.At.Call("SET", "far", "v", "PXAT", "4000000000000");
        using (Migration run = Migration.Begin($"{pair.Redis.Address}", $"{pair.Ours.Address}", "--cut-over"))
        {
            pair.WriteUntil(() => run.HasEnded, run);
            (int code, string said) = run.End();
            Assert.That(code, Is.EqualTo(1), said);
            Assert.That(said, Does.Contain("writers still change").And.Contain("--pause-source").And.Not.Contain("Done"));
        }
        // It had begun to set real times: the next run makes them later again, before anything else.
        Assert.That(pair.Other.Call("GET", "garnet:migration").Text, Does.EndWith(" mixed"));
        Assert.That(pair.Migrate("--until-caught-up", "--verify", "all").Code, Is.Zero);
        Assert.That(pair.Other.Call("GET", "garnet:migration").Text, Does.EndWith(" shifted"));
        foreach (string key in (string[])["near", "far"]) Assert.That(long.Parse(pair.Other.Call("PEXPIRETIME", key).Text), Is.GreaterThan(35_000_000_000_000), key);
        pair.AssertSame();
        foreach (string key in (string[])["near", "far"]) Assert.That(pair.Other.Call("PEXPIRETIME", key).Text, Is.EqualTo(pair.At.Call("PEXPIRETIME", key).Text), key);
    }

    [TestCase("--cut-over", "--pause-source", "30")]
    [TestCase("--scan")]
    public void The_rights_that_the_guide_lists_are_enough(params string[] options)
    {
        using var pair = new Pair();
        string[] shown = [.. File.ReadLines(Path.Combine(Repository.Root, "website/docs/guide/keeping-data.md")).Where(static line => line.StartsWith("ACL SETUSER migrate "))];
        Assert.That(shown, Has.Length.EqualTo(2));
        Assert.That(pair.At.Call(shown[0].Split(' ')).ToString(), Is.EqualTo("+OK"));
        Assert.That(pair.Other.Call(shown[1].Split(' ')).ToString(), Is.EqualTo("+OK"));
        pair.At.Call("FUNCTION", "LOAD", "#!lua name=mylib\nredis.register_function('one', function() return 1 end)");
        pair.At.CallAll(Enumerable.Range(0, 2_000).Select(static i => (string[])["SET", $"k{i}", "v", "EX", $"{1_000 + i * 10}"]));
        using Migration run = Migration.Begin($"redis://migrate:secret@{pair.Redis.Address}", $"redis://migrate:secret@{pair.Ours.Address}", [.. options, "--replace", "--verify", "100"]);
        (int code, string said) = run.End();
        Assert.That(code, Is.Zero, said);
        Assert.That(said, Does.Contain(": 0 differ."));
        Assert.That(pair.Other.Call("FCALL", "one", "0").ToString(), Is.EqualTo(":1"));
    }

    [Test]
    public void A_target_that_evicts_is_warned_of()
    {
        using var pair = new Pair("", "--maxmemory 64mb --maxmemory-policy allkeys-lru");
        (int code, string said) = pair.Migrate("--until-caught-up");
        Assert.That(code, Is.Zero, said);
        Assert.That(said, Does.Contain("has maxmemory-policy allkeys-lru"));
    }

    [Test]
    public void Two_copies_at_once_are_refused_also_when_the_first_stands_still()
    {
        using var pair = new Pair();
        pair.At.Call("SET", "k", "v");
        using FakeSource slow = FakeSource.OfData(FakeSource.Latin($"+FULLRESYNC {FakeSource.History} 100\r\n$1000\r\nREDIS0009"), endsBehind: "");
        using (Migration first = Migration.Begin($"{slow.Address}", $"{pair.Ours.Address}"))
        {
            first.Await("Copying from");
            (int code, string said) = pair.Migrate("--replace", "--until-caught-up");
            Assert.That(code, Is.EqualTo(64), said);
            Assert.That(said, Does.Contain("another migrate copies to").And.Contain("CLIENT KILL ID"));
            first.Kill();
        }
        Assert.That(pair.Migrate("--replace", "--until-caught-up").Code, Is.Zero);
    }

    [Test]
    public void A_copy_whose_place_another_run_has_taken_ends()
    {
        using ServerProcess ours = Ours();
        using RespConnection other = new(ours.Address);
        using var isTaken = new CountdownEvent(1);
        using FakeSource source = new(words => words[0] == "PSYNC" ? Pieces() : null);
        using Migration run = Migration.Begin($"{source.Address}", $"{ours.Address}", "--until-caught-up");
        AwaitThat(() => other.Call("GET", "garnet:migration").Text.Contains(" -1 "));
        string place = $"{FakeSource.History} -1 0 shifted another";
        other.Call("SET", "garnet:migration", place);
        isTaken.Signal();
        (int code, string said) = run.End();
        Assert.That(code, Is.EqualTo(64), said);
        Assert.That(said, Does.Contain("another migrate copies to"));
        Assert.That(other.Call("GET", "garnet:migration").Text, Is.EqualTo(place));

        IEnumerable<byte[]> Pieces()
        {
            yield return FakeSource.Latin($"+FULLRESYNC {FakeSource.History} 100\r\n$18\r\nREDIS0009");
            isTaken.Await();
            yield return FakeSource.Latin("\u00ff" + new string('\0', 8));
        }
    }

    [Test]
    public void A_script_that_keeps_a_server_busy_passes()
    {
        const string Slow = "local t = redis.call('TIME')[1] while redis.call('TIME')[1] - t < 4 do end return redis.call('INCR', 'n')";
        using var pair = new Pair("--busy-reply-threshold 100", "--busy-reply-threshold 100");
        using Migration run = Migration.Begin($"{pair.Redis.Address}", $"{pair.Ours.Address}", "--verify", "0");
        run.Await("has caught up");
        pair.At.Call("EVAL", Slow, "0");
        run.Await("for now: BUSY");
        AwaitThat(() => pair.Other.Call("GET", "n").Text == "1");
        using RespConnection writer = new(pair.Redis.Address);
        pair.Other.Send(RespConnection.Encode("EVAL", Slow.Replace("'n'", "'other'"), "0"));
        AwaitThat(() =>
        {
            writer.Call("INCR", "n");
            return run.Said.Split("for now: BUSY").Length > 2;
        });
        Assert.That(pair.Other.Read().ToString(), Is.EqualTo(":1"));
        string wanted = writer.Call("GET", "n").Text;
        AwaitThat(() => pair.Other.Call("GET", "n").Text == wanted);
        Assert.That(run.HasEnded, Is.False, run.Said);
    }

    private static void AwaitThat(Func<bool> isSo) => Assert.That(SpinWait.SpinUntil(isSo, PatienceMs), Is.True);

    private static ServerProcess Redis(string flags = "") =>
        ServerProcess.TryStartRedis($"--repl-diskless-sync-delay 0 {flags}") ?? throw new IgnoreException("redis-server is not installed");

    private static ServerProcess Ours() => ServerProcess.TryStartOurs("--databases 16") ?? throw new IgnoreException("our server is not built");
}
