using Garnet.Common.Test;

namespace Garnet.Server.Test;

/// <summary>Commands, transactions and scripts that name more keys on the tier than a core keeps values of: done as a whole or refused before anything changes, while others are served.</summary>
internal sealed class ManyColdKeysTests
{
    private const int Few = 40, Keys = 1600, Bytes = 8000; // 12.8 MB, where 8 MiB of one step are kept

    private static HangingStage Cold()
    {
        HangingStage stage = new();
        for (int from = 0; from < Keys; from += 100)
        {
            string[] keys = [.. Enumerable.Range(from, 100).Select(static i => "k" + i)];
            stage.Other.Pipeline(1, [.. keys.Select(static key => (string[])["SET", key, new string('x', Bytes)])]);
            stage.Other.Pipeline(1, [.. keys.Select(static key => (string[])["TIER.DEMOTE", key])]);
        }

        Assert.That(stage.Records, Is.GreaterThanOrEqualTo(Keys));
        return stage;
    }

    // A few move each time while the others are read, as beside movers; what has come stays until all of it is there, however long that takes. Requests of more than 64 KiB
    // are asked about before they run.
    [TestCase("EXISTS", 5000)]
    [TestCase("EXISTS", 8000)]
    [TestCase("DEL", 8000)]
    [TestCase("MGET", 8000)]
    public void Of_very_many_keys_only_those_that_move_meanwhile_are_read_again(string command, int count)
    {
        const int Moving = 8;
        using HangingStage stage = new();
        string[] moving = [.. Enumerable.Range(0, Moving).Select(static i => "moving" + i)];
        foreach (string[] keys in Names(count).Chunk(500))
        {
            stage.Other.Pipeline(1, [.. keys.Select(static key => (string[])["SET", key, "value"])]);
            stage.Other.Pipeline(1, [.. keys.Select(static key => (string[])["TIER.DEMOTE", key])]);
        }

        foreach (string key in moving) stage.Other.Call("SET", key, "value");
        stage.Medium.TakesMs = 200;
        (int reads, long postponed) = (stage.Medium.Reads, stage.Figure("postponed"));
        using TestClient before = stage.Connect(), client = stage.Connect();
        int moved = 0;
        before.Send(["EXISTS", .. Names(count)]); // reads them in another order
        Eventually.Holds(() => stage.Figure("postponed") > postponed);
        client.Send([command, .. Names(count).Reverse(), .. moving]);
        Eventually.Holds(() => stage.Figure("postponed") > postponed + 1); // before the disk has brought anything
        string reply = stage.Slowly(client.Read, () =>
        {
            if (moved < Moving && stage.Figure("postponed") - postponed > moved + 1)
                stage.Demote(moving[moved++]);
        });
        int all = count + Moving;
        Assert.That(reply, Is.EqualTo(command == "MGET" ? $"[{string.Join(' ', Enumerable.Repeat("value", all))}]" : $"{all}"));
        Assert.That((stage.Figure("waits"), stage.Medium.Reads - reads <= all), Is.EqualTo((0, true)), $"{stage.Medium.Reads - reads} reads");
        Assert.That(moved, Is.Positive); // on a busy machine not each time that it is put off is seen in time to move one
        Assert.That(before.Read(), Is.EqualTo($"{count}"));
    }

    private static IEnumerable<string> Names(int count = Keys) => Enumerable.Range(0, count).Select(static i => "k" + i);

    // Who wants events of what is looked for in vain, or has expired, has each key looked for first.
    [TestCase("DEL", "")]
    [TestCase("UNLINK", "")]
    [TestCase("EXISTS", "")]
    [TestCase("TOUCH", "")]
    [TestCase("EXISTS", "KEAm")]
    [TestCase("DEL", "KEAm")]
    public void What_needs_no_value_is_put_off_and_never_waits_in_place(string command, string events)
    {
        using HangingStage stage = Cold();
        stage.Other.Call("CONFIG", "SET", "notify-keyspace-events", events);
        stage.Medium.TakesMs = 20;
        (int reads, long postponed) = (stage.Medium.Reads, stage.Figure("postponed"));
        using TestClient client = stage.Connect();
        Assert.That(stage.Slowly(() => client.Call([command, .. Names()])), Is.EqualTo($"{Keys}"));
        Assert.That((stage.Figure("waits"), stage.Figure("postponed") - postponed, stage.Medium.Reads - reads), Is.EqualTo((0, 1, Keys)));
        if (command is "DEL" or "UNLINK")
            Assert.That(stage.Other.Call(["EXISTS", .. Names()]), Is.EqualTo("0"));
    }

    // Of large entries a piece has one or two, so that a draw is tried several times, and a page of a scan has many pieces.
    [TestCase("SRANDMEMBER large 100", 100)]
    [TestCase("SRANDMEMBER large -100", 100)]
    [TestCase("SSCAN large 0 COUNT 300", 300)]
    public void What_is_asked_of_large_entries_is_read_side_by_side_and_not_all_of_it(string command, int count)
    {
        const int Members = 4000, MemberBytes = 1900, PutOffMax = 12;
        using HangingStage stage = new();
        foreach (int[] some in Enumerable.Range(0, Members).Chunk(100))
            stage.Other.Call(["SADD", "large", .. some.Select(static i => $"{i}:{new string('m', MemberBytes)}")]);
        stage.Demote("large");
        (int reads, long postponed) = (stage.Medium.Reads, stage.Figure("postponed"));
        string[] members = [.. stage.Meanwhile(() => stage.Connect().Call(command.Split(' '))).Split(' ').Where(static word => word.Length > MemberBytes)];
        Assert.That(members, Has.Length.InRange(count, count + 20));
        Assert.That(command.Contains('-', StringComparison.Ordinal) || members.Distinct().Count() == members.Length);
        Assert.That(stage.Figure("postponed") - postponed, Is.LessThan(PutOffMax));
        Assert.That(stage.Medium.Reads - reads, Is.LessThan(Members / 2));
    }

    [TestCase("MSET")]
    [TestCase("MULTI")]
    public void What_sets_many_keys_reads_each_once(string command)
    {
        using HangingStage stage = Cold();
        stage.Medium.TakesMs = 20;
        (int reads, long postponed) = (stage.Medium.Reads, stage.Figure("postponed"));
        using TestClient client = stage.Connect();
        if (command == "MSET")
        {
            Assert.That(stage.Slowly(() => client.Call(["MSET", .. Names().SelectMany(static key => (string[])[key, "new"])])), Is.EqualTo("OK"));
        }
        else
        {
            client.Call("MULTI");
            client.Pipeline(1, [.. Names().Select(static key => (string[])["SET", key, "new"])]);
            Assert.That(stage.Slowly(() => client.Call("EXEC")), Does.StartWith("[OK").And.Not.Contains("ERR"));
        }

        Assert.That((stage.Figure("waits"), stage.Figure("postponed") - postponed, stage.Medium.Reads - reads), Is.EqualTo((0, 1, Keys)));
        stage.Medium.TakesMs = 0;
        Assert.That(stage.Other.Call("GET", $"k{Keys - 1}"), Is.EqualTo("new"));
    }

    // While it waits, what was read for it goes, and is read again, until it is put off for that no more. Nobody, not even a PING, was to wait for what it had come to by then.
    [Test]
    public void What_waits_in_vain_for_room_leaves_nothing_for_the_next_command_to_wait_for()
    {
        const int Long = 40_000, Left = 3 << 20; // less than what is to be set
        using HangingStage stage = Cold();
        stage.Medium.HangWrites();
        using TestClient client = stage.Connect();
        for (int i = 0; stage.BytesLeft > Left; i++) Assert.That(client.Call("SET", $"hot{i}", new string('x', 1 << 20)), Is.EqualTo("OK"));
        string[] request = ["MSET", .. Names(200).SelectMany(static key => (string[])[key, new string('y', Long)])];
        Assert.That(stage.Meanwhile(() => client.Call(request)), Does.StartWith("OOM"));
        Assert.That(stage.Meanwhile(() => client.Call(request)), Does.StartWith("OOM"));
        stage.Medium.Mend();
        Eventually.Holds(() => stage.Meanwhile(() => client.Call(request)) == "OK"); // by its clock the disk is slow
    }

    // Of what lies together there nobody knows which is of which database before it is read.
    [TestCase("FLUSHDB")]
    [TestCase("FLUSHALL")]
    public void Who_empties_databases_does_not_wait_for_what_is_on_the_disk(string command)
    {
        using HangingStage stage = new();
        using TestClient other = stage.Connect();
        FillTwo(stage, other);
        stage.Medium.TakesMs = 20;
        int reads = stage.Medium.Reads;
        Assert.That(other.Call(command, "SYNC"), Is.EqualTo("OK"));
        Assert.That(stage.Medium.Reads - reads, Is.LessThan(Keys / 2), "it is read behind the answer");
        Assert.That(other.Call("DBSIZE"), Is.EqualTo("0"));
        stage.Medium.TakesMs = 0;
    }

    [Test]
    public void Nor_does_who_empties_them_again_and_again()
    {
        const int Flushes = 1000; // as many may be behind
        using ManualResetEventSlim answered = new();
        using HangingStage stage = new();
        using TestClient other = stage.Connect();
        FillTwo(stage, other);
        stage.Medium.Waiting = () => answered.Await(); // whoever reads what hangs: beside the commands
        stage.Medium.HangAll();
        Task<string[]> replies = Task.Run(() => other.Pipeline(Flushes, ["SET", "key", "value"], ["FLUSHDB"]));
        bool inTime = SpinWait.SpinUntil(() => replies.IsCompleted, TimeSpan.FromSeconds(15));
        answered.Set();
        Assert.That(inTime, Is.True, "a flush waits for the disk");
        Assert.That(replies.Result, Has.Length.EqualTo(2 * Flushes).And.All.EqualTo("OK"));
        Assert.That(other.Call("DBSIZE"), Is.EqualTo("0"));
    }

    // Two databases, mixed in the segments of the tier.
    private static void FillTwo(HangingStage stage, TestClient other)
    {
        other.Call("SELECT", "1");
        foreach (string[] keys in Names(Keys / 2).Chunk(Few))
        {
            foreach (TestClient client in (TestClient[])[stage.Other, other]) client.Pipeline(1, [.. keys.Select(static key => (string[])["SET", key, new string('x', Bytes)])]);
            foreach (TestClient client in (TestClient[])[stage.Other, other]) client.Pipeline(1, [.. keys.Select(static key => (string[])["TIER.DEMOTE", key])]);
        }

        Assert.That(stage.Records, Is.GreaterThanOrEqualTo(Keys));
    }

    [TestCase("BY")]
    [TestCase("GET")]
    public void What_a_sort_looks_up_is_read_once(string option)
    {
        using HangingStage stage = Cold();
        stage.Other.Call(["RPUSH", "list", .. Enumerable.Range(0, Few).Select(static i => $"{i}")]);
        (int reads, long waits) = (stage.Medium.Reads, stage.Figure("waits"));
        Assert.That(stage.Other.Call(["SORT", "list", "ALPHA", option, "k*"]), Does.Not.StartWith("ERR"));
        Assert.That((stage.Medium.Reads - reads, stage.Figure("waits") - waits), Is.EqualTo((Few, 0L)));
    }

    [Test]
    public void What_is_waited_for_in_place_does_not_stand_behind_what_others_are_put_off_for()
    {
        const int AtOnce = 64;
        using HangingStage stage = Cold();
        using TestClient many = stage.Connect(), script = stage.Connect();
        stage.Medium.TakesMs = 20;
        int reads = stage.Medium.Reads;
        Task<string> putOff = Task.Run(() => many.Call(["EXISTS", .. Names()]));
        Eventually.Holds(() => stage.Medium.Kept >= AtOnce);
        Assert.That(script.Call("EVAL", "return redis.call('STRLEN', 'well')", "0"), Is.EqualTo("5"), "who waits in place has the time pass");
        Assert.That(stage.Medium.Reads - reads, Is.LessThanOrEqualTo(4 * AtOnce));
        Assert.That(stage.Slowly(() => putOff.InTime()), Is.EqualTo($"{Keys}"));
    }

    // Each read comes in time, and all of them together take more than others may be held up for.
    [Test]
    public void A_script_that_comes_to_one_after_the_other_unnamed_is_told_so()
    {
        using HangingStage stage = Cold();
        stage.Medium.TakesMs = 900;
        string reply = stage.Other.Call("EVAL", "for i = 1, 40 do redis.call('STRLEN', 'k' .. i) end return 'all'", "0");
        Assert.That(reply, Does.Contain("the command has waited in place for too many others: name fewer at a time, and to a script as its keys"));
        stage.Medium.TakesMs = 0;
        Assert.That(stage.Other.Call("STRLEN", "k1"), Is.EqualTo($"{Bytes}"), "another command is not");
    }

    [Test]
    public void As_many_values_as_are_kept_for_a_step_are_fetched_once()
    {
        const int Few = 900;
        using HangingStage stage = Cold();
        stage.Medium.TakesMs = 20;
        int reads = stage.Medium.Reads;
        using TestClient client = stage.Connect();
        Assert.That(stage.Slowly(() => client.Call(["MGET", .. Names(Few)])).Split('x'), Has.Length.EqualTo((Few * Bytes) + 1));
        Assert.That((stage.Figure("waits"), stage.Medium.Reads - reads), Is.EqualTo((0, Few)));
    }

    [Test]
    public void A_command_that_names_more_is_refused()
    {
        using HangingStage stage = Cold();
        using TestClient client = stage.Connect();
        stage.Medium.TakesMs = 20;
        Assert.That(stage.Slowly(() => client.Call(["MGET", .. Names()])), Does.Contain("names too many values on the tier"));
        Assert.That(stage.Figure("waits"), Is.Zero);
        stage.Medium.TakesMs = 0;
        Assert.That(client.Call("GET", "k1"), Has.Length.EqualTo(Bytes), "what comes behind it is not");
    }

    [Test]
    public void A_transaction_that_names_more_is_refused_before_it_changes_anything()
    {
        using HangingStage stage = Cold();
        using TestClient client = stage.Connect();
        client.Call("MULTI");
        client.Pipeline(1, [.. Names().Select(static key => (string[])["APPEND", key, "y"])]);
        stage.Medium.TakesMs = 20;
        Assert.That(stage.Slowly(() => client.Call("EXEC")), Does.Contain("EXECABORT").And.Contains("names too many values on the tier"));
        Assert.That(stage.Figure("waits"), Is.Zero);
        stage.Medium.TakesMs = 0;
        Assert.That((client.Call("STRLEN", "k0"), client.Call("STRLEN", $"k{Keys - 1}"), client.Call("PING")), Is.EqualTo(($"{Bytes}", $"{Bytes}", "PONG")));
    }

    [Test]
    public void So_is_a_script_that_declares_them()
    {
        using HangingStage stage = Cold();
        using TestClient client = stage.Connect();
        stage.Medium.TakesMs = 20;
        string reply = stage.Slowly(() => client.Call(["EVAL", "for i = 1, #KEYS do redis.call('APPEND', KEYS[i], 'y') end return 1", $"{Keys}", .. Names()]));
        Assert.That(reply, Does.Contain("names too many values on the tier"));
        Assert.That(stage.Figure("waits"), Is.Zero);
        stage.Medium.TakesMs = 0;
        Assert.That(client.Call("STRLEN", "k0"), Is.EqualTo($"{Bytes}"));
    }
}
