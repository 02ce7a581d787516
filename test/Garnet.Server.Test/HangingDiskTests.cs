using Garnet.Server.Test.Net;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>A server whose tier's disk hangs: only commands on what lies there are hurt, and for as long as tier-read-timeout says.</summary>
internal sealed class HangingDiskTests
{
    private const int TimeoutMs = HangingStage.TimeoutMs, Large = 3_000_000;
    private const string Why = "the device has not answered";

    [Test]
    public void A_pipeline_has_its_error_in_its_place_when_the_time_is_over_and_others_are_served_meanwhile()
    {
        using HangingStage stage = new();
        stage.Cold("hung");
        stage.Hang("GET", "hung");
        using TestClient client = stage.Connect();
        client.Send("GET", "hung");
        client.Send("SET", "memory", "1");
        client.Send("GET", "well");
        stage.ExpectOthersServed();
        Assert.That(stage.Other.Call("EXISTS", "memory"), Is.EqualTo("0"), "what stands behind it waits for it");
        stage.Clock.Advance(TimeoutMs);
        Assert.That(client.Read(), Does.StartWith("ERR").And.Contain(Why));
        Assert.That((client.Read(), client.Read()), Is.EqualTo(("OK", "value")));
        Assert.That(stage.Other.Call("INFO", "tiering"), Does.Contain("tier_owed_reads:1\r\n").And.Contain("tier_late_reads:1\r\n"));
        stage.Medium.Mend();
        Eventually.Holds(() => client.Call("GET", "hung") == "value");
        Assert.That(stage.Other.Call("INFO", "tiering"), Does.Contain("tier_owed_reads:0\r\n"));
    }

    [Test]
    public void A_reply_that_is_to_be_skipped_is_so_after_the_disk_has_been_waited_for([Values] bool comes)
    {
        using HangingStage stage = new();
        stage.Cold("hung");
        stage.Hang("GET", "hung");
        using TestClient client = stage.Connect();
        client.Send("CLIENT", "REPLY", "SKIP");
        client.Send("GET", "hung");
        client.Send("ECHO", "next");
        stage.ExpectOthersServed();
        if (comes)
            stage.Medium.Mend();
        else
            stage.Clock.Advance(TimeoutMs);
        Assert.That(client.Read(), Is.EqualTo("next"));
        Assert.That(client.Call("GET", "well"), Is.EqualTo("value"));
    }

    [Test]
    public void A_client_that_goes_meanwhile_leaves_nothing_behind()
    {
        using HangingStage stage = new();
        stage.Cold("hung");
        stage.Hang("GET", "hung");
        using (TestClient client = stage.Connect())
        {
            client.Send("GET", "hung");
            stage.ExpectOthersServed();
        }

        stage.Clock.Advance(TimeoutMs);
        Eventually.Holds(() => stage.Figure("owed") == 1);
        Assert.That(stage.Other.Call("GET", "well"), Is.EqualTo("value"));
    }

    [Test]
    public void A_transaction_and_a_script_have_the_error_of_the_key_and_no_more()
    {
        using HangingStage stage = new();
        stage.Cold("hung");
        stage.Hang("GET", "hung");
        using TestClient client = stage.Connect();
        client.Send("MULTI");
        client.Send("SET", "memory", "1");
        client.Send("GET", "hung");
        client.Send("GET", "well");
        client.Send("EXEC");
        stage.ExpectOthersServed();
        stage.Clock.Advance(TimeoutMs);
        Assert.That((client.Read(), client.Read(), client.Read(), client.Read()), Is.EqualTo(("OK", "QUEUED", "QUEUED", "QUEUED")));
        Assert.That(client.Read(), Does.Contain("OK").And.Contain(Why).And.Contain("value"));
        Assert.That(client.Call("EVAL", "return redis.call('GET', KEYS[1])", "1", "hung"), Does.Contain(Why), "at once: the disk owes it");
        Assert.That(client.Call("EVAL", "return redis.call('GET', 'well')", "0"), Is.EqualTo("value"));
        Assert.That(client.Call("PING"), Is.EqualTo("PONG"));
    }

    // The thread is the script's: nobody is served by it for as long.
    [Test]
    public void A_key_that_a_script_does_not_declare_is_waited_for_for_a_second()
    {
        using HangingStage stage = new();
        stage.Cold("hung");
        stage.Hang("GET", "hung");
        long before = stage.Clock.MonotonicUs;
        Assert.That(stage.Other.Call("EVAL", "return redis.call('GET', 'hung')", "0"), Does.Contain(Why));
        Assert.That((stage.Clock.MonotonicUs - before) / 1000, Is.InRange(1000, TimeoutMs - 1));
        Assert.That(stage.Other.Call("PING"), Is.EqualTo("PONG"));
    }

    // Beyond the second, and within tier-read-timeout.
    [Test]
    public void What_a_script_has_not_waited_for_is_answered_to_whoever_can_be_put_off()
    {
        const int Keys = 20;
        using HangingStage stage = new();
        for (int i = 0; i < Keys; i++) stage.Cold($"slow {i}", new string('v', 3000));
        stage.Medium.TakesMs = 1100;
        Assert.That(stage.Other.Call("EVAL", "return redis.call('GET', 'slow 0')", "0"), Does.Contain(Why));
        using TestClient client = stage.Connect();
        string[][] asked = [.. Enumerable.Range(0, Keys).Select(static i => (string[])["STRLEN", $"slow {i}"])];
        Assert.That(stage.Slowly(() => client.Pipeline(1, asked)), Is.All.EqualTo("3000"));
        Assert.That((stage.Figure("late"), stage.Figure("owed")), Is.EqualTo((0, 0)));
    }

    // Nor for a second for each.
    [TestCase("EVAL", "for i = 1, 50 do redis.pcall('GET', 'hung ' .. i) end return redis.call('GET', 'memory')", "0")]
    [TestCase("EVAL", "for i = 1, 50 do redis.pcall('MGET', 'hung ' .. i, 'hung ' .. i + 1) end return redis.call('GET', 'memory')", "0")]
    [TestCase("EVAL", "for i = 1, 50 do redis.pcall('SCAN', '0', 'COUNT', '1000') end return redis.call('GET', 'memory')", "0")]
    [TestCase("EVAL", "for i = 1, 50 do redis.pcall('RANDOMKEY') end return redis.call('GET', 'memory')", "0")]
    [TestCase("EXEC")]
    public void A_script_and_a_transaction_wait_for_a_second_in_all(params string[] command)
    {
        using HangingStage stage = new();
        stage.Other.Call("SET", "memory", "in memory");
        for (int i = 1; i <= 51; i++) stage.Cold($"hung {i}", new string('v', 30_000)); // some in each of several segments
        stage.Hang("KEYS", "*");
        using TestClient client = stage.Connect();
        if (command[0] == "EXEC")
        {
            client.Call("MULTI");
            for (int i = 0; i < 20; i++) client.Call("RANDOMKEY");
            client.Call("GET", "memory");
        }

        long before = stage.Clock.MonotonicUs;
        Assert.That(client.Call(command), Does.EndWith("in memory").Or.EndWith("in memory]"));
        Assert.That((stage.Clock.MonotonicUs - before) / 1000, Is.InRange(1, 6000), "a second, and what it takes to compute, which the clock counts too; not a second for each, which are 20 and more");
        stage.Medium.Mend();
        Eventually.Holds(() => client.Call("PING") == "PONG" && stage.Figure("owed") == 0);
        stage.Clock.Advance(1000); // what was late is not asked again for a moment
        for (int i = 0; i < 3; i++) client.Call("PING");
        for (int i = 1; i <= 51; i++) Assert.That(client.Call("STRLEN", $"hung {i}"), Is.EqualTo("30000"), "whoever asks next has it");
    }

    [Test]
    public void Who_stops_a_script_that_waits_for_the_disk_is_heard_behind_the_command_that_has_waited()
    {
        using HangingStage stage = new();
        stage.Cold("hung");
        stage.Hang("GET", "hung");
        stage.Other.Call("CONFIG", "SET", "busy-reply-threshold", "200");
        using TestClient client = stage.Connect(), stopper = stage.Connect();
        Assert.That((client.Call("PING"), stopper.Call("PING")), Is.EqualTo(("PONG", "PONG")));
        int asked = 0;
        stage.Medium.Waiting = () =>
        {
            if (Interlocked.Exchange(ref asked, 1) == 0)
                stopper.Send("SCRIPT", "KILL");
        };
        Assert.That(client.Call("EVAL", "redis.pcall('GET', 'hung') return 'to its end'", "0"), Does.Contain("killed"));
        Assert.That(stopper.Read(), Is.EqualTo("OK"));
    }

    [Test]
    public void A_random_key_takes_no_longer_than_the_first_read_that_is_late()
    {
        using HangingStage stage = new();
        stage.Other.Call("SET", "memory", "1");
        for (int i = 0; i < 100; i++) stage.Cold($"hung {i}", new string('v', 1000));
        stage.Hang("KEYS", "*");
        using TestClient client = stage.Connect();
        client.Send("RANDOMKEY");
        Task<string> reply = Task.Run(client.Read);
        Eventually.Holds(() => stage.Medium.Kept > 0 || reply.IsCompleted);
        stage.Clock.Advance(TimeoutMs);
        Eventually.Holds(() => reply.IsCompleted);
        Assert.That(reply.Result, Does.Not.Contain(Why));
    }

    [TestCase("HGETALL", "hash")]
    [TestCase("HGET", "hash", "name 7")]
    [TestCase("HSET", "hash", "name 7", "changed")]
    [TestCase("GET", "large")]
    [TestCase("SETRANGE", "large", "5", "changed")]
    [TestCase("TIER.PROMOTE", "large")]
    [TestCase("COPY", "hash", "other")]
    [TestCase("DUMP", "hash")]
    public void Whatever_is_asked_of_it_ends_in_an_error_and_changes_nothing(params string[] command)
    {
        using HangingStage stage = new();
        stage.Other.Call("SET", "large", new string('l', Large));
        for (int i = 0; i < 2000; i++) stage.Other.Call("HSET", "hash", $"name {i}", $"value {i}");
        string key = command[1];
        string before = stage.Other.Call(key == "hash" ? ["HGETALL", key] : ["GET", key]);
        stage.Demote(key);
        stage.Hang(key == "hash" ? ["HGETALL", key] : ["GET", key]);
        using TestClient client = stage.Connect();
        client.Send(command);
        stage.ExpectOthersServed();
        stage.Clock.Advance(TimeoutMs);
        Assert.That(client.Read(), Does.Contain(Why));
        stage.Medium.Mend();
        Eventually.Holds(() => client.Call(key == "hash" ? ["HGETALL", key] : ["GET", key]) == before);
    }

    [TestCase("DEL", false)]
    [TestCase("UNLINK", false)]
    [TestCase("DEL", true)]
    public void Of_several_keys_that_are_to_go_none_does_where_one_cannot_be_read(string command, bool isScript)
    {
        using HangingStage stage = new();
        stage.Other.Call("MSET", "first", "1", "last", "1");
        stage.Cold("hung");
        stage.Hang("GET", "hung");
        string[] remove = isScript ? ["EVAL", $"return redis.call('{command}', 'first', 'well', 'hung', 'last')", "0"] : [command, "first", "well", "hung", "last"];
        using TestClient client = stage.Connect();
        client.Send(remove);
        Eventually.Holds(() => stage.Medium.Kept > 0);
        if (!isScript)
            stage.Clock.Advance(TimeoutMs); // a script has waited for a second by itself
        Assert.That(client.Read(), Does.Contain(Why));
        Assert.That(client.Call("MGET", "first", "well", "last"), Is.EqualTo("[1 value 1]"));
        stage.Medium.Mend();
        Eventually.Holds(() => client.Call(remove) == "4");
    }

    [TestCase("RPUSH", "LMOVE", "from", "hung", "LEFT", "LEFT")]
    [TestCase("SADD", "SMOVE", "from", "hung", "1")]
    [TestCase("SADD", "SUNIONSTORE", "hung", "from")]
    [TestCase("ZADD", "ZRANGESTORE", "hung", "from", "0", "-1")]
    [TestCase("RPUSH", "SORT", "from", "STORE", "hung")]
    [TestCase("SET", "RENAME", "from", "hung")]
    [TestCase("SET", "COPY", "from", "hung", "REPLACE")]
    [TestCase("SET", "BITOP", "NOT", "hung", "from")]
    [TestCase("SET", "MSET", "from", "2", "hung", "2")]
    public void Of_two_keys_that_are_to_change_none_does_where_one_cannot_be_read(string fill, params string[] command)
    {
        using HangingStage stage = new();
        foreach (string key in (string[])["from", "hung"])
            stage.Other.Call(fill == "ZADD" ? [fill, key, "1", "1"] : [fill, key, "1"]);
        string before = stage.Other.Call("DUMP", "from"), hung = stage.Other.Call("DUMP", "hung");
        stage.Demote("hung");
        stage.Hang("DUMP", "hung");
        using TestClient client = stage.Connect();
        client.Send(["EVAL", "return redis.call(unpack(ARGV))", "0", .. command]);
        Eventually.Holds(() => stage.Medium.Kept > 0);
        stage.Clock.Advance(TimeoutMs);
        Assert.That(client.Read(), Does.Contain(Why));
        Assert.That(client.Call("DUMP", "from"), Is.EqualTo(before));
        stage.Medium.Mend();
        Eventually.Holds(() => client.Call("DUMP", "hung") == hung);
    }

    [TestCase("KEYS", "*")]
    [TestCase("SCAN", "0", "COUNT", "1000")]
    [TestCase("RANDOMKEY")]
    public void A_walk_over_all_keys_ends(params string[] command)
    {
        using HangingStage stage = new();
        for (int i = 0; i < 100; i++) stage.Other.Call("SET", $"hung {i}", new string('v', 1000));
        for (int i = 0; i < 100; i++) stage.Demote($"hung {i}");
        stage.Hang("KEYS", "*");
        using TestClient client = stage.Connect();
        client.Send(command);
        Eventually.Holds(() => stage.Medium.Kept > 0);
        Assert.That(stage.Other.Call("PING"), Is.EqualTo("PONG"));
        Task<string> reply = Task.Run(client.Read);
        Eventually.Holds(() =>
        {
            stage.Clock.Advance(TimeoutMs);
            return reply.IsCompleted;
        });
        TestContext.Out.WriteLine(reply.Result[..Math.Min(reply.Result.Length, 200)]);
        Assert.That(stage.Other.Call("PING"), Is.EqualTo("PONG"));
    }

    [Test]
    public void Everything_can_be_flushed_and_written_anew_while_it_hangs()
    {
        using HangingStage stage = new();
        stage.Cold("hung");
        stage.Hang("GET", "hung");
        using TestClient client = stage.Connect();
        client.Send("GET", "hung");
        stage.ExpectOthersServed();
        Assert.That(stage.Other.Call("FLUSHALL"), Is.EqualTo("OK"));
        Assert.That(stage.Other.Call("SET", "hung", "new"), Is.EqualTo("OK"));
        stage.Clock.Advance(TimeoutMs);
        Assert.That(client.Read(), Is.EqualTo("new"));
        Assert.That(stage.Other.Call("DBSIZE"), Is.EqualTo("1"));
    }

    [Test]
    public void The_pieces_of_a_collection_that_was_deleted_meanwhile_are_gone_when_it_answers()
    {
        using HangingStage stage = new();
        for (int i = 0; i < 2000; i++) stage.Other.Call("HSET", "hash", $"name {i}", $"value {i}");
        long others = stage.Records;
        stage.Demote("hash");
        stage.Other.Call("HSET", "hash", "name 0", "changed"); // its head is in memory
        stage.Hang("HGETALL", "hash");
        Assert.That(stage.Other.Call("DEL", "hash"), Is.EqualTo("1"));
        Eventually.Holds(() => stage.Figure("owed") > 0 || stage.Medium.Kept > 0);
        Assert.That((stage.Other.Call("PING"), stage.Other.Call("GET", "well")), Is.EqualTo(("PONG", "value")));
        stage.Medium.Mend();
        Eventually.Holds(() =>
        {
            stage.Clock.Advance(1000);
            return stage.Records == others;
        });
    }

    [Test]
    public void A_disk_that_takes_no_writes_keeps_nobody_from_anything_but_room()
    {
        using HangingStage stage = new();
        stage.Other.Call("SET", "key", "value");
        stage.Other.Call("CONFIG", "SET", "tier-read-timeout", "200");
        stage.Medium.HangAll();
        using TestClient client = stage.Connect();
        client.Send("TIER.DEMOTE", "key");
        Eventually.Holds(() => stage.Other.Call("INFO", "tiering").Contains("tier_write_ms:", StringComparison.Ordinal)
            && !stage.Other.Call("INFO", "tiering").Contains("tier_write_ms:0\r\n", StringComparison.Ordinal));
        Assert.That((stage.Other.Call("SET", "other", "1"), stage.Other.Call("GET", "key")), Is.EqualTo(("OK", "value")));
        Assert.That(stage.Other.Call("FLUSHALL"), Is.EqualTo("OK"));
        Assert.That(stage.Other.Call("SET", "key", "new"), Is.EqualTo("OK"));
        Task<string> reply = Task.Run(client.Read);
        Eventually.Holds(() => reply.IsCompleted);
        Assert.That(reply.Result, Does.StartWith("ERR").And.Contain("does not answer a write"));
        Assert.That(stage.Other.Call("GET", "key"), Is.EqualTo("new"));
    }
}
