using System.Text.RegularExpressions;
using Garnet.Common.Test;

namespace Garnet.Server.Test;

/// <summary>Changes of many elements of a collection that lies on a slow disk, of which the command names none: which these are is known before the first is changed.</summary>
[NonParallelizable] // it takes the cores from others whose clock, which tests move, goes on meanwhile
internal sealed partial class SlowDiskRangesTests
{
    private const int Entries = 10_000, WaitsMax = 1;
    private static readonly string Filler = new('v', 60);

    [TestCase("sorted", "ZREMRANGEBYRANK", "key", "100", "1099")]
    [LongCase("sorted", "ZREMRANGEBYRANK", "key", "100", "9000")]
    [LongCase("sorted", "ZREMRANGEBYSCORE", "key", "100", "200")]
    [TestCase("sorted", "ZPOPMIN", "key", "1000")]
    [LongCase("sorted", "ZPOPMAX", "key", "1000")]
    [LongCase("sorted", "ZMPOP", "1", "key", "MIN", "COUNT", "1000")]
    [TestCase("sorted by name", "ZREMRANGEBYLEX", "key", "[name 2", "[name 4")]
    [LongCase("sorted by name", "ZREMRANGEBYRANK", "key", "100", "1099")]
    [LongCase("sorted by name", "ZPOPMIN", "key", "1000")]
    [TestCase("timed", "ZPOPMAX", "key", "1000")]
    [LongCase("timed", "ZREMRANGEBYRANK", "key", "100", "1099")]
    [LongCase("sorted", "ZRANGESTORE", "other", "key", "100", "1099")]
    [LongCase("set", "SPOP", "key", "1000")]
    [LongCase("set", "SINTERSTORE", "other", "key", "few")]
    [LongCase("set", "SDIFFSTORE", "other", "key", "few")]
    [LongCase("list", "LMPOP", "1", "key", "LEFT", "COUNT", "5000")]
    [LongCase("list", "LTRIM", "key", "1000", "9000")]
    [LongCase("list", "LREM", "key", "0", "same")]
    [LongCase("list", "LREM", "key", "-1", "name 100")]
    [LongCase("list", "LINSERT", "key", "BEFORE", "name 9000", "x")]
    public void Many_elements_are_changed_with_hardly_a_wait(string kind, params string[] command)
    {
        using HangingStage stage = new();
        if (kind == "sorted by name")
            stage.Other.Call(["ZADD", "key", .. Enumerable.Range(0, Entries).SelectMany(static i => (string[])["0", $"name {i}"])]);
        else
            stage.Fill(kind == "timed" ? "sorted" : kind, Entries);
        if (kind == "set")
            stage.Other.Call(["SADD", "few", .. Enumerable.Range(0, 1000).Select(static i => $"name {i}{Filler}")]);
        for (int i = 5; kind == "list" && i < Entries; i += 97) stage.Other.Call("LSET", "key", $"{i}", "same");
        for (int i = 0; kind == "timed" && i < Entries; i += 2000)
        {
            string[] names = [.. Enumerable.Range(i, 2000).Select(static i => $"name {i * 7919 % Entries}")];
            stage.Other.Call(["ZPEXPIRE", "key", $"{10_000_000 + i}", "MEMBERS", $"{names.Length}", .. names]);
        }

        ExpectHardlyAWait(stage, command);
    }

    [TestCase("pending", "XAUTOCLAIM", "key", "group", "two", "0", "0", "COUNT", "2000")]
    [LongCase("pending", "XAUTOCLAIM", "key", "group", "two", "0", "0", "COUNT", "8000", "JUSTID")]
    [TestCase("idle", "XAUTOCLAIM", "key", "group", "two", "1000000", "0", "COUNT", "500")]
    [TestCase("gone", "XAUTOCLAIM", "key", "group", "two", "0", "0", "COUNT", "2000")]
    [TestCase("pending", "XREADGROUP", "GROUP", "group", "one", "COUNT", "2000", "STREAMS", "key", "0")]
    [LongCase("pending", "XREADGROUP", "GROUP", "group", "one", "STREAMS", "key", "0")]
    [TestCase("pending", "XREADGROUP", "GROUP", "group", "two", "COUNT", "2000", "CLAIM", "0", "STREAMS", "key", ">")]
    [LongCase("pending", "XREADGROUP", "GROUP", "fresh", "one", "STREAMS", "key", ">")]
    [TestCase("pending", "XGROUP", "DELCONSUMER", "key", "group", "one")]
    [TestCase("pending", "XGROUP", "DESTROY", "key", "group")]
    [LongCase("pending", "XTRIM", "key", "MAXLEN", "1000")]
    [TestCase("pending", "XTRIM", "key", "MAXLEN", "8000", "DELREF")]
    [TestCase("acknowledged", "XTRIM", "key", "MAXLEN", "1000", "ACKED")]
    [LongCase("pending", "XPENDING", "key", "group", "-", "+", "5000")]
    public void Many_entries_of_a_stream_are_changed_with_hardly_a_wait(string kind, params string[] command)
    {
        using HangingStage stage = new();
        stage.Fill("stream", Entries);
        stage.Other.Call("XGROUP", "CREATE", "key", "fresh", "0");
        string[] all = [.. Id().Matches(stage.Other.Call("XREADGROUP", "GROUP", "group", "one", "STREAMS", "key", ">")).Select(static id => id.Value)];
        string[] some = [.. all.Where(static (_, i) => i % 3 == 0)];
        if (kind == "idle")
            stage.Other.Call(["XCLAIM", "key", "group", "one", "0", .. some, "IDLE", "2000000"]);
        else if (kind == "gone")
            stage.Other.Call(["XDEL", "key", .. some]);
        else if (kind == "acknowledged")
        {
            stage.Other.Call("XREADGROUP", "GROUP", "fresh", "one", "STREAMS", "key", ">");
            foreach (string group in (string[])["group", "fresh"]) stage.Other.Call(["XACK", "key", group, .. some]);
        }

        ExpectHardlyAWait(stage, command);
    }

    [Test]
    public void Due_fields_of_many_hashes_are_found_and_removed_with_hardly_a_wait()
    {
        const int Hashes = 100, Fields = 200, Due = 100, TicksMax = 3000;
        using HangingStage stage = new();
        for (int i = 0; i < Hashes; i++)
        {
            string[] names = [.. Enumerable.Range(0, Fields).Select(static f => $"name {f}")];
            stage.Other.Call(["HSET", $"key {i}", .. names.SelectMany(static name => (string[])[name, Filler])]);
            stage.Other.Call(["HPEXPIRE", $"key {i}", "60000", "FIELDS", $"{Due}", .. names[..Due]]);
            stage.Demote($"key {i}");
        }

        stage.Medium.TakesMs = 20;
        stage.Clock.Advance(70_000);
        int ticks = 0;
        for (bool isDone = false; !isDone && ticks < TicksMax; ticks++)
        {
            stage.Clock.Advance(100);
            stage.Slowly(() => stage.Other.Call("PING"));
            isDone = stage.Server.Store.Figures().Tier!.Returned >= Hashes && stage.Medium.Kept == 0 && ticks % 100 == 99
                && Enumerable.Range(0, Hashes).All(i => stage.Slowly(() => stage.Other.Call("HLEN", $"key {i}")) == $"{Fields - Due}");
        }

        long waits = stage.Figure("waits");
        TestContext.Out.WriteLine($"{ticks} ticks, {waits} waits");
        Assert.That((ticks < TicksMax, waits <= WaitsMax), Is.EqualTo((true, true)));
    }

    private static void ExpectHardlyAWait(HangingStage stage, string[] command)
    {
        stage.Demote("key");
        stage.Medium.TakesMs = 20;
        (long before, long waits, int reads) = (stage.Figure("postponed"), stage.Figure("waits"), stage.Medium.Reads);
        string reply = stage.Slowly(() => stage.Other.Call(command));
        stage.Medium.TakesMs = 0;
        TestContext.Out.WriteLine($"{stage.Figure("postponed") - before} times, {stage.Figure("waits") - waits} waits, {stage.Medium.Reads - reads} reads");
        Assert.That(reply, Does.Not.StartWith("ERR").And.Not.EqualTo("0"));
        Assert.That(stage.Figure("waits") - waits, Is.AtMost(WaitsMax));
    }

    [GeneratedRegex(@"\d+-\d+")]
    private static partial Regex Id();
}
