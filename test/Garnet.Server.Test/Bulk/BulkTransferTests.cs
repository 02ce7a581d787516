using Garnet.Bulk;
using Garnet.Bulk.Native;

namespace Garnet.Server.Test.Bulk;

/// <summary>Values beside the connection, while other things happen and while transfers go wrong, by script.</summary>
internal sealed class BulkTransferTests
{
    private const int Bytes = 100_000;

    [OneTimeSetUp]
    public void The_library_is_there()
    {
        if (!BulkLibrary.IsAvailable)
            Assert.Ignore(BulkLibrary.WhyNot);
    }

    [Test]
    public void A_value_goes_and_comes()
    {
        using BulkBench bench = new();
        using TestClient client = bench.Meet();
        string value = bench.Fill(Bytes, 1);
        string put = client.Call("BULK.PUT", "k", "1", "0", $"{Bytes}");
        Assert.That(client.Call("GET", "k"), Is.EqualTo(value));
        Assert.That(put, Does.StartWith($"[version {client.Call("DIGEST", "k")} crc "));
        Array.Clear(bench.Memory);
        string got = client.Call("BULK.GET", "k", "1", "0", $"{BulkBench.Size}");
        Assert.That(bench.Held(Bytes), Is.EqualTo(value));
        Assert.That(got, Is.EqualTo($"[len {Bytes} total {Bytes} {put[1..]}"));
        bench.AwaitIdle();
    }

    [Test]
    public void Others_are_served_while_a_transfer_runs_and_replies_keep_their_order()
    {
        using BulkBench bench = new(static settings => settings.Network.ReactorThreads = 1);
        using TestClient client = bench.Meet(), other = bench.Connect();
        bench.Script(LoopFaultKind.Delay, 5);
        client.Send("BULK.PUT", "k", "1", "0", $"{Bytes}");
        client.Send("ECHO", "behind");
        bench.AwaitRunning();
        Assert.That(other.Call("EXISTS", "k"), Is.EqualTo("0"));
        bench.Advance(5);
        Assert.That(client.Read(), Does.StartWith("[version"));
        Assert.That(client.Read(), Is.EqualTo("behind"));
    }

    [Test]
    public void A_read_is_of_one_moment_whatever_is_written_meanwhile()
    {
        using BulkBench bench = new();
        using TestClient client = bench.Meet(), other = bench.Connect();
        string value = bench.Fill(Bytes, 1);
        client.Call("SET", "k", value);
        string version = client.Call("DIGEST", "k");
        bench.Script(LoopFaultKind.Delay, 5);
        Array.Clear(bench.Memory);
        client.Send("BULK.GET", "k", "1", "0", $"{Bytes}");
        bench.AwaitRunning();
        other.Call("SETRANGE", "k", "5", new string('-', 50_000));
        bench.Advance(5);
        Assert.That(client.Read(), Does.Contain($"version {version} "));
        Assert.That(bench.Held(Bytes), Is.EqualTo(value));
    }

    [Test]
    public void Rights_that_are_taken_away_meanwhile_are_gone_when_it_takes_effect([Values("resetkeys", "-@bulk", "~k -@write")] string taken)
    {
        using BulkBench bench = new();
        using TestClient other = bench.Connect();
        other.Call("ACL", "SETUSER", "u", "on", ">p", "~k", "+@all");
        using TestClient client = bench.Meet("u");
        other.Call("SET", "k", "old");
        bench.Script(LoopFaultKind.Delay, 5);
        client.Send("BULK.PUT", "k", "1", "0", $"{Bytes}");
        bench.AwaitRunning();
        other.Call(["ACL", "SETUSER", "u", .. taken.Split(' ')]);
        bench.Advance(5);
        Assert.That(client.Read(), Does.StartWith("NOPERM"));
        Assert.That(other.Call("GET", "k"), Is.EqualTo("old"));
        bench.AwaitIdle();
    }

    [TestCase(LoopFaultKind.Fail, "BULKCLOSED")]
    [TestCase(LoopFaultKind.Torn, "BULKCLOSED")]
    public void What_fails_in_the_middle_leaves_the_old_value_and_ends_its_own_session(LoopFaultKind kind, string error)
    {
        using BulkBench bench = new();
        using TestClient other = bench.Meet(), client = bench.Meet();
        client.Call("SET", "k", "old");
        bench.Script(kind);
        Assert.That(client.Call("BULK.PUT", "k", "1", "0", $"{Bytes}"), Does.StartWith(error));
        Assert.That(client.Call("GET", "k"), Is.EqualTo("old"));
        Assert.That(client.Call("BULK.PUT", "k", "1", "0", "1"), Does.StartWith("BULKCLOSED the session has ended"));
        Assert.That(other.Call("BULK.PUT", "k", "1", "0", "1"), Does.StartWith("[version"));
        Assert.That(bench.Hello(client), Does.StartWith("[version 1 "));
        bench.AwaitIdle();
    }

    [Test]
    public void A_transfer_that_is_late_poisons_its_session_and_holds_its_memory_until_it_is_at_rest()
    {
        using BulkBench bench = new(static settings => settings.Bulk.TimeoutMs = 1000);
        using TestClient other = bench.Meet(), client = bench.Meet();
        client.Call("SET", "k", "old");
        bench.Script(LoopFaultKind.Hang, 1500); // from the moment on at which it is to stop
        client.Send("BULK.PUT", "k", "1", "0", $"{Bytes}");
        bench.AwaitRunning();
        bench.Advance(1100);
        Assert.That((bench.Own().Figures.IsPoisoned, bench.Sessions.Budget.Bytes), Is.EqualTo((true, (long)Bytes)));
        bench.Advance(1500);
        Assert.That(client.Read(), Does.StartWith("BULKTIMEOUT"));
        bench.AwaitIdle();
        Assert.That(client.Call("BULK.GET", "k", "1", "0", "10"), Does.StartWith("BULKCLOSED"));
        Assert.That(other.Call("BULK.GET", "k", "1", "0", "10"), Does.StartWith("[len 3 "));
        Assert.That(other.Call("GET", "k"), Is.EqualTo("old"));
    }

    [Test]
    public void A_transfer_that_nothing_ends_has_an_answer_and_keeps_its_memory()
    {
        using BulkBench bench = new();
        using TestClient client = bench.Meet();
        client.Call("CONFIG", "SET", "bulk-timeout", "10"); // behind the meeting, which takes real time
        bench.Script(LoopFaultKind.Hang, 60_000);
        client.Send("BULK.PUT", "k", "1", "0", $"{Bytes}");
        bench.AwaitRunning();
        bench.Advance(20);
        Assert.That(client.Read(), Does.StartWith("BULKTIMEOUT"));
        Assert.That(bench.Sessions.Budget.Bytes, Is.EqualTo(Bytes));
        Assert.That(client.Call("EXISTS", "k"), Is.EqualTo("0"));
        bench.Advance(60_000);
        bench.AwaitIdle();
    }

    [Test]
    public void Who_leaves_in_the_middle_leaves_nothing_behind()
    {
        using BulkBench bench = new();
        using TestClient other = bench.Connect();
        other.Call("SET", "k", "old");
        using (TestClient client = bench.Meet())
        {
            bench.Script(LoopFaultKind.Delay, 1000);
            client.Send("BULK.PUT", "k", "1", "0", $"{Bytes}");
            bench.AwaitRunning();
        }

        Assert.That(bench.Sessions.Budget.Bytes, Is.EqualTo(Bytes), "its memory is not at rest yet");
        bench.Advance(1000);
        bench.AwaitIdle();
        Eventually.Holds(() => bench.Sessions.Count == 0);
        Assert.That(other.Call("GET", "k"), Is.EqualTo("old"));
    }

    [Test]
    public void Who_ends_his_side_of_the_connection_waits_for_nothing_any_more([Values("BULK.PUT k 1 0 100000", "BULK.GET k 1 0 3", "BLPOP list 0")] string command)
    {
        using BulkBench bench = new();
        using TestClient other = bench.Connect();
        other.Call("SET", "k", "old");
        using TestClient client = bench.Meet();
        bench.Script(LoopFaultKind.Delay, 1000);
        client.Send(command.Split(' '));
        bool transfers = command.StartsWith("BULK", StringComparison.Ordinal);
        if (transfers)
            bench.AwaitRunning();
        client.EndSide();
        Assert.That(client.IsAtEnd(), Is.True, "no reply: the connection is closed, as for every command that waits for somebody else");
        if (transfers) // the session of who transfers nothing may have ended already, its endpoint with it
            bench.Advance(1000);
        bench.AwaitIdle();
        Eventually.Holds(() => bench.Sessions.Count == 0);
        Assert.That(other.Call("GET", "k"), Is.EqualTo("old"));
    }

    [Test]
    public void Who_ends_his_side_behind_a_command_that_has_run_gets_its_reply()
    {
        using BulkBench bench = new();
        using TestClient client = bench.Connect();
        client.Send("BULK.PUT", "k", "INLINE", "value");
        client.EndSide();
        Assert.That(client.Read(), Does.StartWith("[version"));
        Assert.That(client.IsAtEnd(), Is.True);
    }

    [Test]
    public void What_is_beyond_the_budget_waits_and_is_refused_in_the_end([Values("bulk-bytes", "bulk-session-bytes")] string limit)
    {
        using BulkBench bench = new();
        using TestClient first = bench.Meet(), second = bench.Meet();
        bool isOfSession = limit == "bulk-session-bytes";
        second.Call("CONFIG", "SET", limit, $"{Bytes}");
        bench.Script(LoopFaultKind.Delay, 5, back: 1);
        first.Send("BULK.PUT", "k", "1", "0", $"{Bytes}");
        bench.AwaitRunning(back: 1);
        second.Send("BULK.PUT", "other", "1", "0", $"{Bytes}");
        if (isOfSession)
        {
            Assert.That(second.Read(), Does.StartWith("[version"), "another session's share is its own");
            return;
        }

        Eventually.Holds(() => bench.Sessions.Budget.Waiting == 1);
        using TestClient third = bench.Connect();
        third.Call("CONFIG", "SET", "bulk-wait", "1");
        Assert.That(bench.Hello(third), Does.StartWith("[version 1 "));
        BulkBench.Register(third, 1, bench.Region);
        Assert.That(third.Call("BULK.PUT", "k", "1", "0", "1"), Does.StartWith("BULKBUSY"));
        Assert.That(third.Call("EXISTS", "other"), Is.EqualTo("0"));
        bench.Advance(5, back: 2);
        Assert.That(first.Read(), Does.StartWith("[version"));
        Assert.That(second.Read(), Does.StartWith("[version"), "it has waited, and went on when there was room");
        bench.AwaitIdle();
    }

    [Test]
    public void A_client_that_lies_about_its_memory_gets_an_error()
    {
        using BulkBench bench = new();
        using TestClient client = bench.Meet();
        client.Call("SET", "k", "old");
        RemoteRegion right = bench.Region;
        Assert.That(BulkBench.Register(client, 2, right with { Key = right.Key ^ 1 }), Is.EqualTo("OK"));
        Assert.That(client.Call("BULK.PUT", "k", "2", "0", "10"), Does.StartWith("BULKKEY"));
        Assert.That(BulkBench.Register(client, 3, right with { Length = right.Length + 4096 }), Is.EqualTo("OK"));
        Assert.That(client.Call("BULK.PUT", "k", "3", $"{right.Length}", "10"), Does.Match("^BULK(RANGE|KEY)"));
        Assert.That(BulkBench.Register(client, 4, right with { Base = right.Base + 1 }), Is.EqualTo("OK"));
        string place = client.Call("BULK.PUT", "other", "4", $"{right.Length - 10}", "10");
        Assert.That(place, Does.StartWith("[version"), "where a region lies its owner says, not who names it");
        Assert.That(BulkBench.Register(client, 5, new RemoteRegion(ulong.MaxValue - 5, 10, 1)), Does.StartWith("BULKRANGE"));
        Assert.That(client.Call("BULK.PUT", "k", "1", $"{BulkBench.Size - 5}", "10"), Does.StartWith("BULKRANGE"));
        Assert.That(client.Call("BULK.PUT", "k", "1", $"{ulong.MaxValue}", "10"), Does.StartWith("BULKRANGE"));
        Assert.That(client.Call("BULK.GET", "k", "1", $"{BulkBench.Size - 5}", "10"), Does.StartWith("BULKRANGE"));
        Assert.That(client.Call("BULK.PUT", "k", "9", "0", "10"), Does.StartWith("BULKNOREG"));
        Assert.That(BulkBench.Register(client, 6, right, "R"), Is.EqualTo("OK"));
        Assert.That(client.Call("BULK.GET", "k", "6", "0", "10"), Does.StartWith("BULKKEY"));
        Assert.That(client.Call("GET", "k"), Is.EqualTo("old"));
        Assert.That(client.Call("BULK.PUT", "k", "1", "0", "10"), Does.StartWith("[version"), "the session goes on");
        bench.AwaitIdle();
    }

    [Test]
    public void A_session_has_so_many_regions_and_the_server_so_many_sessions()
    {
        using BulkBench bench = new(static settings => (settings.Bulk.RegionsMax, settings.Bulk.SessionsMax) = (2, 1));
        using TestClient client = bench.Meet(), other = bench.Connect();
        Assert.That(BulkBench.Register(client, 1, bench.Region), Is.EqualTo("ERR the region is registered: BULK.UNREG first"));
        Assert.That(BulkBench.Register(client, 2, bench.Region), Is.EqualTo("OK"));
        Assert.That(BulkBench.Register(client, 3, bench.Region), Does.StartWith("BULKBUSY"));
        Assert.That(client.Call("BULK.UNREG", "2"), Is.EqualTo("OK"));
        Assert.That(client.Call("BULK.UNREG", "2"), Does.StartWith("BULKNOREG"));
        Assert.That(bench.Hello(other), Does.StartWith("BULKCLOSED no provider can be had (loop: there are as many sessions"));
        Assert.That(client.Call("BULK.BYE"), Is.EqualTo("OK"));
        Assert.That(client.Call("BULK.PUT", "k", "1", "0", "1"), Does.StartWith("BULKCLOSED"));
        Assert.That(bench.Hello(other), Does.StartWith("[version 1 "), "there is room again");
    }

    [Test]
    public void Memory_of_values_on_their_way_is_accounted_for_while_they_are()
    {
        using BulkBench bench = new(static settings => settings.Security.DebugCommand = AccessScope.Yes);
        using TestClient client = bench.Meet(), writer = bench.Meet(), other = bench.Connect();
        client.Call("SET", "part", bench.Fill(Bytes, 1));
        client.Call("BULK.OPEN", "whole", $"{BulkBench.Size}");
        client.Call("BULK.OPEN", "short", "1000");
        bench.Script(LoopFaultKind.Delay, 5);
        bench.Script(LoopFaultKind.Delay, 5, back: 1);
        client.Send("BULK.PUT", "placed", "1", "0", $"{Bytes}");
        writer.Send("BULK.PUT", "part", "1", "0", $"{Bytes}", "AT", "10");
        bench.AwaitRunning();
        bench.AwaitRunning(back: 1);
        Assert.That(other.Call("DEBUG", "CHECK"), Is.EqualTo("[]"), "values in parts, one that is placed, and a part beside the store");
        bench.Advance(5);
        bench.Advance(5, back: 1);
        Assert.That(client.Read(), Does.StartWith("[version"));
        Assert.That(writer.Read(), Does.StartWith("[version"));
        Assert.That(other.Call("DEBUG", "CHECK"), Is.EqualTo("[]"), "values in parts, still");
        client.Dispose();
        bench.AwaitIdle();
        Assert.That(other.Call("DEBUG", "CHECK"), Is.EqualTo("[]"));
    }

    [Test]
    public void What_is_logged_is_what_a_set_logs()
    {
        var log = new RecordingLog();
        using BulkBench bench = new(log: log);
        using TestClient client = bench.Meet();
        string value = bench.Fill(Bytes, 1);
        client.Call("SET", "k", value);
        client.Call("BULK.PUT", "k", "1", "0", $"{Bytes}");
        client.Call("SETRANGE", "k", "10", value);
        client.Call("BULK.PUT", "k", "1", "0", $"{Bytes}", "AT", "10");
        (byte OpId, byte[] Key, byte[] Arguments)[] logged = [.. log.Entries().Select(static one => (one.OpId, one.Key.ToArray(), one.Arguments.ToArray()))];
        Assert.That(logged, Has.Length.EqualTo(4));
        Assert.That(logged[1], Is.EqualTo(logged[0]));
        Assert.That(logged[3], Is.EqualTo(logged[2]));
    }

    [Test]
    public void A_value_in_parts_of_which_nothing_more_comes_is_given_up()
    {
        using BulkBench bench = new();
        using TestClient client = bench.Meet(), other = bench.Connect();
        client.Call("BULK.OPEN", "k", $"{Bytes}");
        Assert.That(bench.Sessions.Budget.Bytes, Is.EqualTo(Bytes));
        other.Call("CONFIG", "SET", "bulk-upload-timeout", "20");
        client.Call("BULK.OPEN", "k", $"{Bytes}");
        Eventually.Holds(() => bench.Sessions.Budget.Bytes == Bytes);
        Assert.That(client.Call("BULK.WRITE", "2", "0", "INLINE", "v"), Does.StartWith("BULKNOREG"));
        Assert.That(client.Call("BULK.WRITE", "1", "0", "INLINE", "v"), Does.Match("^[0-9]+$"), "each has its own time");
        client.Dispose();
        bench.AwaitIdle();
    }

    [Test]
    public void A_value_in_parts_takes_effect_only_with_the_right_to_its_key()
    {
        using BulkBench bench = new();
        using TestClient other = bench.Connect();
        other.Call("ACL", "SETUSER", "u", "on", ">p", "~k", "+@all");
        using TestClient client = bench.Meet("u");
        client.Call("BULK.OPEN", "k", "1");
        client.Call("BULK.WRITE", "1", "0", "INLINE", "v");
        Assert.That(client.Call("BULK.COMMIT", "secret", "1"), Does.StartWith("NOPERM"));
        other.Call("ACL", "SETUSER", "u", "resetkeys");
        Assert.That(client.Call("BULK.COMMIT", "k", "1"), Does.StartWith("NOPERM"));
        Assert.That(other.Call("EXISTS", "k"), Is.EqualTo("0"));
    }

    [Test]
    public void The_key_of_a_region_is_shown_to_nobody()
    {
        using BulkBench bench = new();
        using TestClient client = bench.Connect();
        client.Call("CONFIG", "SET", "slowlog-log-slower-than", "0");
        bench.Hello(client);
        BulkBench.Register(client, 1, bench.Region);
        string log = client.Call("SLOWLOG", "GET", "10");
        Assert.That(log, Does.Contain($"BULK.REG 1 {bench.Region.Base} ").And.Not.Contains($" {bench.Region.Key} "));
    }

    [Test]
    public void A_reset_connection_has_no_session()
    {
        using BulkBench bench = new();
        using TestClient client = bench.Meet();
        client.Call("BULK.OPEN", "k", $"{Bytes}");
        Assert.That(client.Call("RESET"), Is.EqualTo("RESET"));
        Assert.That(client.Call("BULK.PUT", "k", "1", "0", "1"), Does.StartWith("BULKCLOSED"));
        bench.AwaitIdle();
        Eventually.Holds(() => bench.Sessions.Count == 0);
    }
}
