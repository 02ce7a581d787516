using System.Globalization;
using System.Text.RegularExpressions;
using NUnit.Framework;

namespace Garnet.Wire.Scripting;

/// <summary>What others see and hear of a script, and what a script may do without memory: the same as with redis-server. What it may write all the same is not compared.</summary>
internal sealed partial class ScriptAsideTests
{
    private const string Sets = "redis.call('set', KEYS[1], ARGV[1]) return redis.call('get', KEYS[1])";

    private static readonly string[][] Tight =
    [
        ["EVAL", "return redis.call('set', 'x', 1)", "0"],
        ["EVAL", "return redis.pcall('set', 'x', 1)", "0"],
        ["EVAL", "return redis.call('get', 'full')", "0"],
        ["EVAL", "#!lua\nreturn 1", "0"],
        ["EVAL", "#!lua flags=no-writes\nreturn redis.call('get', 'full')", "0"],
        ["EVAL", "#!lua flags=allow-oom,no-writes\nreturn redis.call('set', 'y', 1)", "0"],
        ["EVAL_RO", "#!lua flags=no-writes\nreturn redis.call('get', 'full')", "0"],
        ["FCALL", "plain", "1", "z"],
        ["FCALL_RO", "looks", "1", "z"],
        ["MULTI"], ["EVAL", "return redis.call('get', 'z')", "0"], ["EXEC"],
        ["MULTI"], ["EVAL", "return redis.call('set', 'z', 2)", "0"], ["EXEC"],
    ];

    [Test]
    public void A_script_without_memory_may_do_what_redis_lets_it_do() =>
        Assert.That(Story(Servers.Ours, OfMemory), Is.EqualTo(Story(Servers.Redis, OfMemory)));

    [Test]
    public void A_script_that_has_written_goes_on_without_memory()
    {
        using ServerProcess ours = Small();
        Assert.That(Story(ours, OfGoingOn), Is.EqualTo(Story(Servers.Redis, OfGoingOn)));
    }

    [Test]
    public void It_goes_on_within_what_is_kept_above_the_limit()
    {
        using ServerProcess ours = Small();
        using RespConnection client = new(ours.Address);
        Fill(client);
        string reply = client.Call("EVAL", "redis.call('del', 'none') for i = 1, 64 do redis.call('set', 'more:' .. i, string.rep('m', 1048576)) end", "0").ToString();
        long written = Enumerable.Range(1, 64).Count(i => client.Call("EXISTS", $"more:{i}").ToString() == ":1");
        Assert.That(reply, Does.StartWith("-OOM command not allowed when used memory > 'maxmemory'."));
        Assert.That(written, Is.AtMost(4), "a 64th of about 128 MiB, in whole segments");
    }

    [Test]
    public void Monitors_see_the_call_and_what_the_script_runs() =>
        Assert.That(Story(Servers.Ours, OfMonitor), Is.EqualTo(Story(Servers.Redis, OfMonitor)));

    [Test]
    public void Trackers_hear_of_what_a_script_changes([Values("", "NOLOOP", "OPTIN")] string mode) =>
        Assert.That(Story(Servers.Ours, server => OfTracking(server, mode)), Is.EqualTo(Story(Servers.Redis, server => OfTracking(server, mode))));

    private static string Story(ServerProcess server, Func<ServerProcess, IEnumerable<string>> tell)
    {
        using RespConnection connection = new(server.Address);
        connection.Call("FLUSHALL");
        connection.Call("FUNCTION", "FLUSH");
        return string.Join('\n', tell(server));
    }

    private static IEnumerable<string> OfMemory(ServerProcess server)
    {
        using RespConnection client = new(server.Address);
        client.Call("SET", "full", "1");
        client.Call("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('plain', function(keys) return redis.call('set', keys[1], 1) end) "
            + "redis.register_function{function_name='looks', callback=function(keys) return redis.call('get', keys[1]) end, flags={'no-writes'}}");
        client.Call("CONFIG", "SET", "maxmemory", "1");
        string[] told = [.. Tight.Select(words => $"{words[^1]} -> {client.Call(words)}")];
        client.Call("CONFIG", "SET", "maxmemory", "0");
        return told;
    }

    private static IEnumerable<string> OfGoingOn(ServerProcess server)
    {
        const string Many = "for i = 1, 200 do redis.call('set', KEYS[1] .. i, i) end return redis.call('get', KEYS[1] .. 200)";
        using RespConnection client = new(server.Address);
        Fill(client);
        string[][] commands =
        [
            ["SET", "plain", "v"], ["EVAL", Many, "1", "first:"], ["EVAL", "redis.call('del', 'none') " + Many, "1", "second:"],
            ["EVAL", "#!lua flags=allow-oom\n" + Many, "1", "third:"], ["EVAL", "redis.call('del', 'none') return redis.pcall('set', 'fourth', 1)", "0"],
            ["EXISTS", "first:1", "first:200"], ["EXISTS", "second:1", "second:200", "third:1", "third:200", "fourth"],
        ];
        string[] told = [.. commands.Select(words => $"{words[^1]} -> {client.Call(words)}")];
        client.Call("CONFIG", "SET", "maxmemory", "0");
        client.Call("FLUSHALL");
        return told;
    }

    // One of its own: what others have flushed gives its memory back in the background.
    private static ServerProcess Small() => ServerProcess.TryStartOurs("--maxmemory-policy noeviction") ?? throw new IgnoreException("not built");

    // A limit a little below what is in use: nothing that frees some in the background makes room.
    private static void Fill(RespConnection client)
    {
        string value = new('v', 1000);
        for (int i = 0; i < 1200; i++) client.Call(["MSET", .. Enumerable.Range(0, 100).SelectMany(j => (string[])[$"fill:{i}:{j}", value])]);
        string used = client.Call("INFO", "memory").Text.Split("used_memory:")[1].Split('\r')[0];
        client.Call("CONFIG", "SET", "maxmemory", (long.Parse(used, CultureInfo.InvariantCulture) - (1 << 20)).ToString(CultureInfo.InvariantCulture));
    }

    private static IEnumerable<string> OfMonitor(ServerProcess server)
    {
        using RespConnection client = new(server.Address), monitor = new(server.Address);
        monitor.Call("MONITOR");
        client.Call("SELECT", "2");
        client.Call("EVAL", Sets, "1", "key", "a\0b");
        client.Call("EVAL", "redis.call('select', 5) redis.pcall('incr', 'key') return redis.pcall('nosuch')", "0");
        client.Call("MULTI");
        client.Call("EVAL", "return redis.call('get', 'key')", "0");
        client.Call("EXEC");
        client.Call("SET", "last", "1");
        List<string> told = [];
        do told.Add(Moment().Replace(monitor.Read().Text, "[$1 $2]"));
        while (!told[^1].Contains("last", StringComparison.Ordinal));
        return told;
    }

    private static IEnumerable<string> OfTracking(ServerProcess server, string mode)
    {
        using RespConnection client = new(server.Address), tracker = new(server.Address);
        tracker.Call("HELLO", "3");
        tracker.Call([.. new[] { "CLIENT", "TRACKING", "ON", mode }.Where(static word => word.Length > 0)]);
        List<string> told = [];
        void Say(params string[] words) => told.Add(tracker.Call(words).ToString());
        void Hear()
        {
            tracker.Send(RespConnection.Encode("ECHO", "end"));
            do told.Add(tracker.Read().ToString());
            while (told[^1] != "\"end\"");
        }
        if (mode == "OPTIN") Say("CLIENT", "CACHING", "YES");
        Say("GET", "seen");
        client.Call("EVAL", Sets, "1", "seen", "1");
        Hear();
        Say("SET", "mine", "0");
        if (mode == "OPTIN") Say("CLIENT", "CACHING", "YES");
        Say("GET", "mine");
        Say("EVAL", "redis.call('set', KEYS[1], 1) return redis.call('setrange', KEYS[1], 0, 'x')", "1", "mine");
        Hear();
        Say("GET", "own");
        client.Call("EVAL", "redis.call('flushdb') return redis.call('set', 'own', 1)", "0");
        Hear();
        return told;
    }

    [GeneratedRegex(@"^\d+\.\d+ \[(\d+) (?:(lua)|[^\]]+)\]")]
    private static partial Regex Moment();
}
