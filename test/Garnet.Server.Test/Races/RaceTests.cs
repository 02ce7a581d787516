using System.Globalization;

namespace Garnet.Server.Test.Races;

/// <summary>What clients of several reactors see of each other is what some order of whole commands shows; each program counts.</summary>
[NonParallelizable] // for the time it has, its threads want the cores
public sealed class RaceTests
{
    private const int Depth = 50; // commands that a client sends at once

    [Test]
    public void No_change_of_a_watched_key_is_missed_while_others_begin_and_end_to_watch()
    {
        using var run = new RaceRun();
        long added = 0;
        run.Begin(static client => client.Pipeline(Depth, ["WATCH", "other"], ["UNWATCH"]));
        run.Begin(client => Interlocked.Add(ref added, client.Pipeline(Depth, ["INCR", "k"]).Length));
        run.Watch(client =>
        {
            client.Call("WATCH", "k");
            long seen = Number(client.Call("GET", "k"));
            client.Call("MULTI");
            client.Call("SET", "k", Text(seen + 1));
            if (client.Call("EXEC") != "nil")
                Interlocked.Increment(ref added);
            client.Call("PING"); // nobody watches but the other
            return null;
        });
        Assert.That(run.End(), Is.Null);
        using TestClient judge = run.Connect();
        Assert.That(Number(judge.Call("GET", "k")), Is.EqualTo(added), "an increment was overwritten by a transaction that watched the key");
    }

    // A plain SET makes the tag 0, and the next one with a tag makes it 1 again: it says nothing about which value it belongs to.
    [Test]
    public void A_value_and_its_tag_are_of_one_moment()
    {
        using var run = new RaceRun();
        run.Begin(static client =>
        {
            client.Call("SETWITHETAG", "k", "tagged");
            client.Call("SET", "k", "plain");
        }, 2);
        run.Watch(static client => client.Call("GETWITHETAG", "k") is var reply and not ("nil" or "[0 plain]" or "[1 tagged]" or "[2 tagged]") ? reply : null, 4);
        Assert.That(run.End(), Is.Null);
    }

    [Test]
    public void Nobody_waits_for_a_list_that_holds_something()
    {
        using var run = new RaceRun();
        for (int pair = 0; pair < 3; pair++)
        {
            string queue = "q" + Text(pair);
            long pushed = long.MaxValue; // when the last push was known to have been made; the end of time while one is under way
            run.Watch(client =>
            {
                long began = Environment.TickCount64;
                if (client.Call("BLPOP", queue, "1") != "nil" || client.Call("LLEN", queue) == "0")
                    return null;
                // It waited to the end of a second at least: what was pushed behind that, while this thread had no processor, nobody waited for.
                return Volatile.Read(ref pushed) < began + 900 ? "a client waited for a list that held something" : null;
            });
            run.Begin(client =>
            {
                Volatile.Write(ref pushed, long.MaxValue);
                client.Call("RPUSH", queue, "x");
                Volatile.Write(ref pushed, Environment.TickCount64);
                for (int looks = 0; looks < 10_000 && run.Goes && client.Call("LLEN", queue) != "0"; looks++)
                    Thread.Yield();
            });
        }

        Assert.That(run.End(), Is.Null);
    }

    [Test]
    public void Keys_stay_in_their_database_while_databases_change_places([Values("RENAME", "SMOVE", "LMOVE", "COPY", "ZRANGESTORE", "BITOP")] string move)
    {
        using var run = new RaceRun();
        using TestClient judge = run.Connect();
        Furnish(judge, "0", "A", move);
        Furnish(judge, "1", "B", move);
        run.Begin(client =>
        {
            foreach (string home in new[] { "A", "B" }) // of which one is where the client is
            {
                client.Call(Mover(move, "k1", "k2", home));
                client.Call(Mover(move, "k2", "k1", home));
            }
        }, times: 4);
        run.Watch(static client =>
        {
            client.Call("SWAPDB", "0", "1");
            return null;
        });
        Assert.That(run.End(), Is.Null);
        foreach (string database in new[] { "0", "1" })
        {
            judge.Call("SELECT", database);
            string home = judge.Call("GET", "home");
            string all = Show(judge, "k1") + Show(judge, "k2");
            Assert.That(all.Replace(home, "", StringComparison.Ordinal), Is.Empty, $"in the database of {home} lies {all}");
            Assert.That(all, Is.Not.Empty, $"what was in the database of {home} lies in the other");
        }
    }

    [Test]
    public void Nothing_survives_FLUSHALL()
    {
        using var run = new RaceRun();
        run.Begin(static client =>
        {
            client.Call("RENAME", "k1", "k2");
            client.Call("RENAME", "k2", "k1");
            client.Call("LMOVE", "l1", "l2", "LEFT", "LEFT");
            client.Call("LMOVE", "l2", "l1", "LEFT", "LEFT");
        }, times: 3);
        run.Watch(static client =>
        {
            client.Call("SET", "k1", "x");
            client.Call("RPUSH", "l1", "x");
            client.Call("FLUSHALL");
            return client.Call("DBSIZE") == "0" ? null : "a key was there after FLUSHALL: " + client.Call("KEYS", "*");
        });
        Assert.That(run.End(), Is.Null);
    }

    [Test]
    public void What_a_transaction_reads_is_what_was_read_after_WATCH([Values("SWAPDB", "FLUSHALL", "expiry")] string beside)
    {
        using var run = new RaceRun();
        run.Watch(static client =>
        {
            client.Call("WATCH", "k");
            string before = client.Call("GET", "k");
            client.Call("MULTI");
            client.Call("GET", "k");
            string result = client.Call("EXEC");
            return result == "nil" || result == $"[{before}]" ? null : $"{before} was read after WATCH, {result} by EXEC";
        }, times: 3);
        int number = 0;
        run.Begin(client => client.Call("SET", "k", Text(Interlocked.Increment(ref number))));
        if (beside == "expiry")
            run.Begin(client => client.Call("SET", "k", Text(Interlocked.Increment(ref number)), "PX", "1"));
        else
            run.Begin(client => client.Call(beside == "SWAPDB" ? ["SWAPDB", "0", "1"] : ["FLUSHALL"]), times: 2);
        Assert.That(run.End(), Is.Null);
    }

    [Test]
    public void A_command_over_two_keys_sees_what_is_renamed_between_them([Values("LMPOP", "ZMPOP", "PFCOUNT", "BLPOP", "BZPOPMIN")] string command)
    {
        using var run = new RaceRun();
        using (TestClient first = run.Connect())
            Put(first, command);
        run.Begin(static client =>
        {
            client.Call("RENAME", "k1", "k2");
            client.Call("RENAME", "k2", "k1");
        });
        run.Watch(client =>
        {
            string found = client.Call(Taking(command));
            if (found is "nil" or "0")
                return $"{command} found nothing";
            if (command != "PFCOUNT")
                Put(client, command);
            return null;
        });
        Assert.That(run.End(), Is.Null);
    }

    [Test]
    public void Of_two_keys_filled_as_one_step_the_first_is_taken_from([Values("LMPOP", "BLPOP", "ZMPOP", "BZMPOP")] string command)
    {
        using var run = new RaceRun();
        bool sorted = command.Contains('Z', StringComparison.Ordinal), waits = command[0] == 'B';
        int full = 0;
        run.Begin(client =>
        {
            if (Volatile.Read(ref full) != 0) return;
            Volatile.Write(ref full, 1);
            client.Call("MULTI");
            client.Call(sorted ? ["ZADD", "k1", "1", "a"] : ["RPUSH", "k1", "a"]);
            client.Call(sorted ? ["ZADD", "k2", "1", "a"] : ["RPUSH", "k2", "a"]);
            client.Call("EXEC");
        });
        run.Watch(client =>
        {
            string found = client.Call(Taking(command));
            if (found == "nil") return null;
            client.Call("DEL", "k1", "k2");
            Volatile.Write(ref full, 0);
            return found.StartsWith("[k1", StringComparison.Ordinal) ? null : $"{command} took {found}";
        });
        if (waits) // those who wait already keep the table of waits busy
            run.Begin(static client => client.Call("BLPOP", "never", "0.001"));
        Assert.That(run.End(), Is.Null);
    }

    [Test]
    public void After_the_reply_to_CLIENT_PAUSE_nothing_is_written()
    {
        using var run = new RaceRun();
        run.Begin(static client => client.Pipeline(4 * Depth, ["INCR", "k"]), times: 4);
        run.Watch(static client =>
        {
            client.Call("CLIENT", "PAUSE", "60000", "WRITE"); // UNPAUSE ends it, however slow the machine is
            string first = client.Call("GET", "k"), second = client.Call("GET", "k");
            client.Call("CLIENT", "UNPAUSE");
            return first == second ? null : $"the key went from {first} to {second} during a pause";
        });
        Assert.That(run.End(), Is.Null);
    }

    [Test]
    public void A_transaction_is_applied_whole_or_not_at_all_when_memory_is_short()
    {
        const int Keys = 2000;
        using var run = new RaceRun(static settings =>
        {
            settings.Memory.MaxMemoryBytes = 48 << 20;
            settings.Memory.Policy = Tsavorite.EvictionPolicy.AllKeysLru;
        });
        int number = 0;
        string filler = new('x', 20_000);
        run.Begin(client => client.Call("SET", "f" + Text(Interlocked.Increment(ref number) % Keys), filler), times: 2);
        run.Watch(client =>
        {
            string key = "t" + Text(Interlocked.Increment(ref number) % Keys);
            client.Call("MULTI");
            client.Call("SETRANGE", key, "200000", "x");
            client.Call("COPY", key, key + "c", "REPLACE");
            client.Call("APPEND", key, filler);
            client.Call("SETBIT", key + "b", "1000000", "1");
            string result = client.Call("EXEC");
            return result.Contains("OOM", StringComparison.Ordinal) && result[0] == '[' ? result : null;
        }, times: 3);
        Assert.That(run.End(), Is.Null);
    }

    private static void Furnish(TestClient client, string database, string home, string move)
    {
        client.Call("SELECT", database);
        client.Call("SET", "home", home);
        string[] keys = move is "ZRANGESTORE" or "BITOP" ? ["k1", "k2"] : ["k1"]; // from nothing these two make nothing
        foreach (string key in keys)
        {
            client.Call(move switch
            {
                "SMOVE" => ["SADD", key, home],
                "LMOVE" => ["RPUSH", key, home],
                "ZRANGESTORE" => ["ZADD", key, "0", home],
                _ => ["SET", key, home],
            });
        }
    }

    private static string[] Mover(string move, string from, string to, string element) => move switch
    {
        "SMOVE" => ["SMOVE", from, to, element],
        "LMOVE" => ["LMOVE", from, to, "LEFT", "LEFT"],
        "COPY" => ["COPY", from, to, "REPLACE"],
        "ZRANGESTORE" => ["ZRANGESTORE", to, from, "0", "-1"],
        "BITOP" => ["BITOP", "OR", to, from],
        _ => ["RENAME", from, to],
    };

    private static string Show(TestClient client, string key) => client.Call("TYPE", key) switch
    {
        "set" => client.Call("SMEMBERS", key).Trim('[', ']'),
        "list" => client.Call("LRANGE", key, "0", "-1").Trim('[', ']'),
        "zset" => client.Call("ZRANGE", key, "0", "-1").Trim('[', ']'),
        "string" => client.Call("GET", key),
        _ => "",
    };

    private static void Put(TestClient client, string command) => client.Call(command switch
    {
        "PFCOUNT" => ["PFADD", "k1", "a", "b", "c"],
        "ZMPOP" or "BZPOPMIN" => ["ZADD", "k1", "1", "a"],
        _ => ["RPUSH", "k1", "a"],
    });

    private static string[] Taking(string command) => command switch
    {
        "LMPOP" => ["LMPOP", "2", "k1", "k2", "LEFT"],
        "ZMPOP" => ["ZMPOP", "2", "k1", "k2", "MIN"],
        "BZMPOP" => ["BZMPOP", "0.01", "2", "k1", "k2", "MIN"],
        "PFCOUNT" => ["PFCOUNT", "k1", "k2"],
        _ => [command, "k1", "k2", "0.01"],
    };

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);

    private static long Number(string text) => text == "nil" ? 0 : long.Parse(text, CultureInfo.InvariantCulture);
}
