using System.Buffers.Binary;
using System.Text.Json;
using Garnet.Common.Test;
using NUnit.Framework;

namespace Garnet.Wire.Takeover;

/// <summary>garnet-server migrate beside targets that take nothing or not all, times of expiry that come meanwhile, and its options.</summary>
[Parallelizable] // its servers are its own
internal sealed class TakeoverTargetTests
{
    private const string Library = "#!lua name=mylib\nredis.register_function('one', function() return 1 end)";
    private const string OtherLibrary = "#!lua name=mylib\nredis.register_function('two', function() return 2 end)";
    private const long PeakMax = 512L << 20; // values of 64 MiB, of both servers, as they came and unpacked

    [Test]
    public void A_full_target_ends_the_copy_and_the_stream()
    {
        using var pair = new Pair("", "--maxmemory 32mb --maxmemory-policy noeviction");
        pair.At.Call("SET", "k", "v");
        Assert.That(pair.Migrate("--until-caught-up").Code, Is.Zero);
        for (int i = 0; i < 64; i++) pair.At.Call("SET", $"k{i}", new string((char)('a' + i % 26), 1 << 20));
        (int code, string said) = pair.Migrate("--until-caught-up", "--timeout", "10");
        Assert.That(code, Is.EqualTo(64), said);
        Assert.That(said, Does.Contain("OOM").And.Contain("--maxmemory").And.Contain(" at offset "));
        (code, said) = pair.Migrate("--until-caught-up", "--replace", "--timeout", "10");
        Assert.That(code, Is.EqualTo(64), said);
        Assert.That(said, Does.Contain("OOM").And.Contain("--maxmemory"));
    }

    [Test]
    public void A_target_that_ends_in_the_copy_is_named_and_the_source_is_not_blamed()
    {
        using ServerProcess ours = ServerProcess.TryStartOurs() ?? throw new IgnoreException("our server is not built");
        byte[] keys = FakeSource.Latin(string.Concat(Enumerable.Repeat("\0\u0001k\u0001v", 1_000)));
        string begin = $"+FULLRESYNC {FakeSource.History} 100\r\n$9223372036854775807\r\nREDIS0009";
        using FakeSource source = new(words => words[0] == "PSYNC" ? Enumerable.Repeat(keys, int.MaxValue).Prepend(FakeSource.Latin(begin)) : null);
        using Migration run = Migration.Begin($"{source.Address}", $"{ours.Address}");
        using RespConnection other = new(ours.Address);
        Patience.Until(() => run.HasEnded || other.Call("EXISTS", "k").ToString() == ":1");
        ours.Dispose();
        (int code, string said) = run.End();
        Assert.That(code, Is.EqualTo(1), said);
        Assert.That(said, Does.Contain($"{ours.Address}").And.Contain("in the middle of the copy").And.Contain("see to the target").And.Contain("--replace"));
        Assert.That(said, Does.Not.Contain("client-output-buffer-limit"));
    }

    [Test]
    public void A_target_that_is_a_replica_is_refused()
    {
        using var pair = new Pair();
        pair.Other.Call("REPLICAOF", "127.0.0.1", $"{FreePorts.Next()}");
        (int code, string said) = pair.Migrate("--cut-over");
        Assert.That(code, Is.EqualTo(65).Or.EqualTo(64), said);
        Assert.That(said, Does.Contain("READONLY").And.Contain("REPLICAOF NO ONE"));
    }

    [Test]
    public void A_wrong_password_is_said_and_not_shown()
    {
        using var pair = new Pair("--requirepass right");
        (int code, string said) = Migration.RunHere(pair.Redis.Address, pair.Ours.Address);
        Assert.That(code, Is.EqualTo(64), said);
        Assert.That(said, Does.Contain("NOAUTH").And.Contain("GARNET_SOURCE_PASSWORD"));
        using (Migration run = Migration.Begin($"redis://:s3cret@{pair.Redis.Address}", $"{pair.Ours.Address}"))
        {
            (code, said) = run.End();
            Assert.That(code, Is.EqualTo(64), said);
            Assert.That(said, Does.Contain("refuses the password").And.Not.Contain("s3cret"));
        }
        using (Migration run = Migration.Begin($"redis://:right@{pair.Redis.Address}", $"redis://u:s3cret@{pair.Ours.Address}"))
        {
            (code, said) = run.End();
            Assert.That(code, Is.EqualTo(64), said);
            Assert.That(said, Does.Contain("refuses the password").And.Not.Contain("s3cret"));
        }
        using (Migration run = Migration.Begin($"redis://:right@{pair.Redis.Address}", $"{pair.Ours.Address}", "--cut-over")) Assert.That(run.End().Code, Is.Zero);
    }

    // What was due before its change came: a replica keeps it, until its primary says that it is gone.
    [Test]
    public void What_is_due_on_its_way_is_neither_lost_nor_comes_back()
    {
        using var pair = new Pair();
        string data = "REDIS0009" + string.Concat(((string[])["kept", "counted", "deleted", "forgotten"]).Select(static key => $"{Due()}\0{(char)key.Length}{key}\u00015")) + "\u00ff" + new string('\0', 8);
        string changes = string.Concat(((string[])["PERSIST kept", "INCR counted", "PEXPIREAT counted 4000000000000", "DEL deleted", "SET new 7 PXAT 2000", "INCR new", "PERSIST new", "SET gone 1 PXAT 2000"])
            .Select(static words => System.Text.Encoding.Latin1.GetString(RespConnection.Encode(words.Split(' ')))));
        string info = $"role:master\r\nmaster_repl_offset:{100 + changes.Length}";
        using FakeSource source = new(words => words[0] switch
        {
            "PSYNC" => [FakeSource.Latin($"+FULLRESYNC {FakeSource.History} 100\r\n${data.Length}\r\n{data}{changes}")],
            "INFO" => [FakeSource.Latin($"${info.Length}\r\n{info}\r\n")],
            _ => null,
        });
        (int code, string said) = Migration.RunHere(source.Address, pair.Ours.Address, "--cut-over", "--verify", "0");
        Assert.That(code, Is.Zero, said);
        foreach ((string words, string answer) in ((string, string)[])[("GET kept", "5"), ("PTTL kept", "-1"), ("GET counted", "6"), ("PEXPIRETIME counted", "4000000000000"),
            ("GET new", "8"), ("PTTL new", "-1"), ("EXISTS deleted", "0"), ("EXISTS forgotten", "0"), ("EXISTS gone", "0"), ("DBSIZE", "3")])
            Assert.That(pair.Other.Call(words.Split(' ')).Text, Is.EqualTo(answer), words);
    }

    [Test]
    public void Keys_that_expire_all_the_while_are_the_same_at_the_cut_over()
    {
        using var pair = new Pair();
        for (int i = 0; i < 2_000; i++) pair.At.Call("SET", $"k{i}", "1", "PX", $"{500 + i}");
        using Migration run = Migration.Begin($"{pair.Redis.Address}", $"{pair.Ours.Address}", "--until-caught-up", "--verify", "0");
        int at = 0;
        for (int round = 0; round < 3_000; round++, at = (at + 7) % 2_000)
            pair.At.Call(round % 3 == 0 ? ["INCR", $"k{at}"] : round % 3 == 1 ? ["PERSIST", $"k{at}"] : ["SET", $"k{at}", "5", "PX", "200"]);
        Assert.That(run.End().Code, Is.Zero, run.Said);
        (int code, string said) = pair.Migrate("--cut-over", "--pause-source", "60", "--verify", "all");
        Assert.That(code, Is.Zero, said);
        Assert.That(said, Does.Contain(": 0 differ."));
    }

    [TestCase("")]
    [TestCase("--scan")]
    public void Functions_of_the_target_are_removed_only_when_that_is_asked_for(string scan)
    {
        using var pair = new Pair();
        string[] options = scan.Length > 0 ? [scan] : ["--cut-over"];
        pair.At.Call("FUNCTION", "LOAD", Library);
        pair.Other.Call("FUNCTION", "LOAD", OtherLibrary);
        (int code, string said) = pair.Migrate(options);
        Assert.That(code, Is.EqualTo(64), said);
        Assert.That(said, Does.Contain("is not empty"));
        Assert.That(pair.Other.Call("FCALL", "two", "0").ToString(), Is.EqualTo(":2"));
        (code, said) = pair.Migrate([.. options, "--replace"]);
        Assert.That(code, Is.Zero, said);
        Assert.That(pair.Other.Call("FCALL", "one", "0").ToString(), Is.EqualTo(":1"));
        Assert.That(pair.Other.Call("FCALL", "two", "0").ToString(), Does.StartWith("-"));
    }

    [Test]
    public void A_scan_copies_all_databases_and_refuses_what_is_not_empty()
    {
        using var pair = new Pair();
        for (int i = 0; i < 3_000; i++) pair.At.Call("SET", $"k{i}", $"{i}", "PXAT", "4000000000000");
        pair.At.Call("SELECT", "5");
        pair.At.Call("RPUSH", "l", "a", "b");
        (int code, string said) = pair.Migrate("--scan", "--verify", "all");
        Assert.That(code, Is.Zero, said);
        Assert.That(said, Does.Contain("Copied 3001 keys").And.Contain("Compared 3001 of 3001 keys: 0 differ.").And.Contain("may be in the copy or not"));
        Assert.That(pair.Other.Call("PEXPIRETIME", "k7").Text, Does.StartWith("39999999").Or.StartWith("40000000"));
        (code, said) = pair.Migrate("--scan");
        Assert.That(code, Is.EqualTo(64), said);
        Assert.That(pair.Migrate("--scan", "--replace").Code, Is.Zero);
    }

    [Test]
    public void Lines_are_objects_of_JSON_when_that_is_asked_for()
    {
        using var pair = new Pair();
        pair.At.Call("SET", "k", "v");
        (int code, string said) = pair.Migrate("--json", "--cut-over");
        Assert.That(code, Is.Zero, said);
        string[] events = [.. said.Split('\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries)
            .Select(static line => JsonDocument.Parse(line).RootElement.GetProperty("event").GetString()!)];
        Assert.That(events, Is.SupersetOf((string[])["copying", "copied", "following", "times", "verified", "done"]));
    }

    [Test]
    public void Large_values_pass_in_bounded_memory()
    {
        using var pair = new Pair();
        for (int i = 0; i < 64; i++) pair.At.Call("RPUSH", "list", new string((char)('a' + i % 26), 1 << 20));
        pair.At.Call("SETRANGE", "string", $"{64 << 20}", "x");
        for (int i = 0; i < 64; i++) pair.At.CallAll(Enumerable.Range(0, 1_000).Select(field => (string[])["HSET", "hash", $"{i}:{field}", new string('v', 500)]));
        using Migration run = Migration.Begin($"{pair.Redis.Address}", $"{pair.Ours.Address}", "--cut-over", "--pause-source", "60", "--verify", "all");
        (int code, string said) = run.End();
        Assert.That(code, Is.Zero, said);
        Assert.That(said, Does.Contain("Compared 3 of 3 keys: 0 differ."));
        Assert.That(run.PeakBytes, Is.LessThan(PeakMax));
        TestContext.Out.WriteLine($"{run.PeakBytes >> 20} MiB");
    }

    private static string Due()
    {
        byte[] bytes = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, 1_000);
        return "\u00fc" + System.Text.Encoding.Latin1.GetString(bytes);
    }
}
