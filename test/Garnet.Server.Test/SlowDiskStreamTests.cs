using System.Text.RegularExpressions;

namespace Garnet.Server.Test;

/// <summary>Commands of many ids on a stream that lies on a slow disk: pages of it, and of what is pending for its group, are fetched side by side.</summary>
internal sealed partial class SlowDiskStreamTests
{
    private const int Entries = 5000, Ids = 100;

    [TestCase("[1 1 ", "XDELEX", "key", "IDS", "100")]
    [TestCase("100", "XDEL", "key")]
    [TestCase("100", "XACK", "key", "group")]
    [TestCase("[1 1 ", "XACKDEL", "key", "group", "IDS", "100")]
    [TestCase("[[", "XCLAIM", "key", "group", "other", "0")]
    [TestCase("100", "XNACK", "key", "group", "SILENT", "IDS", "100")]
    public void A_command_that_names_many_ids_waits_for_the_disk_a_few_times(string expected, params string[] command)
    {
        const int TimesMax = 14, WaitsMax = 2;
        using HangingStage stage = new();
        stage.Fill("stream", Entries);
        string[] all = [.. Id().Matches(stage.Other.Call("XREADGROUP", "GROUP", "group", "one", "STREAMS", "key", ">")).Select(static id => id.Value)];
        Assert.That(all, Has.Length.EqualTo(Entries));
        string[] some = [.. Enumerable.Range(0, Ids).Select(i => all[i * 7919 % Entries])];
        stage.Demote("key");
        stage.Medium.TakesMs = 50;
        (long before, long waits, int reads) = (stage.Figure("postponed"), stage.Figure("waits"), stage.Medium.Reads);
        string reply = stage.Slowly(() => stage.Other.Call([.. command, .. some]));
        stage.Medium.TakesMs = 0;
        TestContext.Out.WriteLine($"{stage.Figure("postponed") - before} times, {stage.Figure("waits") - waits} waits, {stage.Medium.Reads - reads} reads");
        Assert.That(reply, Does.StartWith(expected));
        Assert.That(stage.Figure("postponed") - before, Is.AtMost(TimesMax));
        Assert.That(stage.Figure("waits") - waits, Is.AtMost(WaitsMax));
    }

    // The end of the stream is in memory: the entry finds its page, and what is to go in its place is not answered for.
    [TestCase("MAXLEN", "100")]
    [TestCase("MINID", "~", "9999999999999-0")]
    [TestCase("DELREF", "MAXLEN", "100")]
    [TestCase("ACKED", "MAXLEN", "100")]
    public void An_entry_is_not_added_where_those_that_it_takes_the_place_of_cannot_be_read(params string[] trim)
    {
        using HangingStage stage = new();
        stage.Fill("stream", Entries);
        stage.Other.Call("XREADGROUP", "GROUP", "group", "one", "STREAMS", "key", ">");
        stage.Demote("key");
        Assert.That(stage.Slowly(() => stage.Other.Call("XADD", "key", "*", "name", "value")), Does.Match(Id()));
        string last = stage.Other.Call("XREVRANGE", "key", "+", "-", "COUNT", "1");
        stage.Medium.HangAll();
        string reply = stage.Slowly(() => stage.Other.Call(["XADD", "key", .. trim, "*", "name", "other"]));
        stage.Medium.Mend();
        Eventually.Holds(() => stage.Other.Call("PING") == "PONG" && stage.Figure("owed") == 0);
        Assert.That(reply, Does.Contain("cannot be read"));
        Assert.That(stage.Other.Call("XREVRANGE", "key", "+", "-", "COUNT", "1"), Is.EqualTo(last));
        Assert.That(stage.Other.Call("XLEN", "key"), Is.EqualTo($"{Entries + 1}"));
    }

    [GeneratedRegex(@"\d+-\d+")]
    private static partial Regex Id();
}
