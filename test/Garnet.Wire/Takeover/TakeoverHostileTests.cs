using Garnet.Common.Test;
using NUnit.Framework;

namespace Garnet.Wire.Takeover;

/// <summary>garnet-server migrate beside a source that lies, breaks off or says nothing: an error that says what is so, no exit code 0, an end, and bounded memory.</summary>
[Parallelizable] // its servers are its own
internal sealed class TakeoverHostileTests
{
    private const string Resync = "+FULLRESYNC " + FakeSource.History + " 100\r\n";
    private const long PeakMax = 300L << 20;
    private const int OffsetBehindCopy = 100;

    private static readonly string[] s_lengths =
    [
        "\u0080\u0080\0\0\0", "\u0080\u00ff\u00ff\u00ff\u00ff", "\u0081\0\0\0\u0001\0\0\0\0", "\u0081\u0080\0\0\0\0\0\0\0",
        "\u0081\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff",
    ];

    // A string of so many bytes, a list of so many elements, a key, a packed string that says it is so long: in 32 and 64 bits.
    private static readonly string[] s_long = ["\0\u0001k", "\u0001\u0001k", "\0", "\0\u0001k\u00c3\u0001", "\u00f5", "\u00fa", "\u0012\u0001k", "\u0015\u0001k"];

    // Empty: version 9, the end, and no checksum (rdbchecksum no).
    private static readonly string s_empty = Resync + "$18\r\nREDIS0009\u00ff" + new string('\0', 8);

    [Test]
    public void Data_cut_behind_every_byte_are_no_copy()
    {
        using ServerProcess ours = Ours();
        using RespConnection other = new(ours.Address);
        byte[] all = [.. FakeSource.Latin(Resync), .. SmallRdb()];
        for (int bytes = 0; bytes < all.Length; bytes += LongRun.IsWanted ? 1 : 3)
        {
            using FakeSource source = FakeSource.OfData(all[..bytes]);
            (int code, string said) = Migration.RunHere(source.Address, ours.Address, "--replace");
            Assert.That(code, Is.EqualTo(1), $"{bytes}: {said}");
            Assert.That(said, Does.Contain("closed the connection"), $"{bytes}");
            if (!said.Contains("in the middle of the copy")) continue;
            Assert.That(said, Does.Contain("--replace"), $"{bytes}");
            Assert.That(other.Call("GET", "garnet:migration").Text, Does.Contain(" -1 "), $"{bytes}");
        }
        using FakeSource whole = FakeSource.OfData(all);
        (int refused, string why) = Migration.RunHere(whole.Address, ours.Address);
        Assert.That(refused, Is.EqualTo(64), why);
        Assert.That(why, Does.Contain("an earlier copy did not come to its end"));
    }

    [Test]
    public void Data_with_any_byte_changed_are_refused()
    {
        using ServerProcess ours = Ours();
        byte[] all = SmallRdb();
        int head = Array.IndexOf(all, (byte)'\n') + 1;
        for (int at = head; at < all.Length; at += LongRun.IsWanted ? 1 : 3)
        {
            byte[] changed = [.. FakeSource.Latin(Resync), .. all];
            changed[Resync.Length + at] ^= 0x5A;
            using FakeSource source = FakeSource.OfData(changed);
            (int code, string said) = Migration.RunHere(source.Address, ours.Address, "--replace");
            Assert.That(code, Is.EqualTo(65).Or.EqualTo(64).Or.EqualTo(1), $"{at}: {said}");
            Assert.That(said, Does.Contain("--replace").Or.Contain("not all of the source's"), $"{at}");
        }
    }

    // By their places: bytes like these in a test's name keep it from being found by that. A short run says one length of each, and each of some.
    private static IEnumerable<object[]> LengthsBeyondBounds() =>
        from what in Enumerable.Range(0, s_long.Length)
        from length in LongRun.PartOf(Enumerable.Range(0, s_lengths.Length), every: s_lengths.Length, first: what)
        select new object[] { length, what };

    [TestCaseSource(nameof(LengthsBeyondBounds))]
    public void Lengths_beyond_all_bounds_take_no_memory(int length, int what)
    {
        using ServerProcess ours = Ours();
        using FakeSource source = FakeSource.OfData(FakeSource.Latin($"{Resync}$9223372036854775807\r\nREDIS0011{s_long[what]}{s_lengths[length]}"));
        using Migration run = Migration.Begin($"{source.Address}", $"{ours.Address}");
        (int code, string said) = run.End();
        Assert.That(code, Is.EqualTo(65).Or.EqualTo(1), said);
        Assert.That(said, Does.Contain("--replace").And.Not.Contain("Unhandled"));
        Assert.That(run.PeakBytes, Is.LessThan(PeakMax));
    }

    [TestCase("$5\r\nHELLO", "end in the middle")]
    [LongCase("$9\r\nHELLOHELLO", "do not begin as an RDB does")]
    [LongCase("$9\r\nREDIS0099", "have version 99")]
    [TestCase("$11\r\nREDIS0011\u00fe\u00c0", "there is no number")]
    [LongCase("$19\r\nREDIS0009\u00ff\0\0\0\0\0\0\0\0\0", "do not end where the source said")]
    [LongCase("$18\r\nREDIS0009\u00ff\u0001\0\0\0\0\0\0\0", "checksum is wrong")]
    [TestCase("$EOF:0123456789012345678901234567890123456789\r\nREDIS0009\u00ff\0\0\0\0\0\0\0\0x123456789012345678901234567890123456789", "do not end where the source said")]
    public void What_is_no_RDB_is_said_to_be_none(string data, string why)
    {
        using ServerProcess ours = Ours();
        using FakeSource source = FakeSource.OfData(FakeSource.Latin(Resync + data));
        (int code, string said) = Migration.RunHere(source.Address, ours.Address);
        Assert.That(code, Is.EqualTo(65).Or.EqualTo(1), said);
        Assert.That(said, Does.Contain(why).And.Contain("--replace"));
    }

    [TestCase("PING", "HTTP/1.1 400 Bad Request\r\n", "does not speak the protocol of Redis")]
    [LongCase("PING", "$9999999999\r\n", "does not speak the protocol of Redis")]
    [LongCase("PING", "$3\r\nabcde", "does not speak the protocol of Redis")]
    [TestCase("PING", "$2147483647\r\n", "too long for what was asked")]
    [LongCase("PING", "*2147483647\r\n", "closed the connection")]
    [LongCase("PING", "+HELLO\r\n", "does not answer PING with PONG")]
    [TestCase("PING", "-LOADING Redis is loading\r\n", "for now: LOADING")]
    [LongCase("PING", "-BUSY Redis is busy running a script.\r\n", "for now: BUSY")]
    [LongCase("PING", "-MASTERDOWN Link with MASTER is down\r\n", "for now: MASTERDOWN")]
    [TestCase("PSYNC", "-TRYAGAIN not yet\r\n", "answers PSYNC with -TRYAGAIN")]
    [LongCase("PSYNC", "+FULLRESYNC abc 9223372036854775000\r\n", "answers PSYNC with")]
    [LongCase("PING", "-NOAUTH Authentication required.\r\n", "refuses PING")]
    [TestCase("PSYNC", "-NOPERM no\r\n", "takes no replica")]
    [LongCase("PSYNC", "+OK\r\n", "answers PSYNC with +OK")]
    [LongCase("PSYNC", "+FULLRESYNC\r\n", "answers PSYNC with")]
    [TestCase("PSYNC", "+FULLRESYNC a\u001b[2J 5\r\n", "answers PSYNC with +FULLRESYNC a?")]
    [LongCase("PSYNC", "+FULLRESYNC abc 99999999999999999999\r\n", "answers PSYNC with")]
    [LongCase("PSYNC", "+CONTINUE abc\r\n", "answers PSYNC with")]
    [TestCase("PSYNC", Resync + "$-5\r\n", "sends no data")]
    [LongCase("PSYNC", Resync + "$9223372036854775808\r\n", "sends no data")]
    [LongCase("PSYNC", Resync + "$EOF:short\r\n", "sends no data")]
    public void Who_is_no_source_leaves_the_target_as_it_was(string request, string answer, string why)
    {
        using ServerProcess ours = Ours();
        using RespConnection other = new(ours.Address);
        using FakeSource source = new(words => words[0] == request ? [FakeSource.Latin(answer)] : null) { EndsBehind = request };
        (int code, string said) = Migration.RunHere(source.Address, ours.Address, "--timeout", "1");
        Assert.That(code, Is.EqualTo(64).Or.EqualTo(1), said);
        Assert.That(said, Does.Contain(why).And.Not.Contain("\u001b"));
        Assert.That(other.Call("DBSIZE").ToString(), Is.EqualTo(":0"));
    }

    [TestCase("+", "a", "a line without an end")]
    [TestCase("*2147483647\r\n", "$1\r\nx\r\n", "too long for what was asked")]
    public void An_answer_without_an_end_is_given_up(string head, string more, string why)
    {
        using ServerProcess ours = Ours();
        byte[] piece = FakeSource.Latin(string.Concat(Enumerable.Repeat(more, 10_000)));
        using FakeSource source = new(words => words[0] == "PING" ? Enumerable.Repeat(piece, int.MaxValue).Prepend(FakeSource.Latin(head)) : null);
        using Migration run = Migration.Begin($"{source.Address}", $"{ours.Address}");
        (int code, string said) = run.End();
        Assert.That(code, Is.EqualTo(1), said);
        Assert.That(said, Does.Contain(why));
        Assert.That(run.PeakBytes, Is.LessThan(PeakMax));
    }

    [TestCase("PING", "")]
    [LongCase("PING", "$5\r\nPO")]
    [LongCase("REPLCONF", "+O")]
    [TestCase("PSYNC", "+FULL")]
    [LongCase("PSYNC", Resync + "$1000\r\nREDIS0009\0\u0001k\u0040")]
    public void A_source_that_says_nothing_any_more_is_given_up(string request, string answer)
    {
        using ServerProcess ours = Ours();
        using FakeSource source = new(words => words[0] == request ? [FakeSource.Latin(answer)] : null);
        (int code, string said) = Migration.RunHere(source.Address, ours.Address, "--timeout", "1");
        Assert.That(code, Is.EqualTo(1), said);
        Assert.That(said, Does.Contain("has said nothing for 1 seconds"));
    }

    [TestCase("HELLO\r\n", "no command begins")]
    [LongCase("*1\r\n$99999999999\r\n", "no command begins")]
    [LongCase("*1\r\n$2147483648\r\n", "no command begins")]
    [TestCase("*1\r\n$3\r\nabcde", "no command begins")]
    [LongCase("*1\r\n:3\r\n", "no command begins")]
    [LongCase("*2\r\n$6\r\nSELECT\r\n$2\r\n-1\r\n", "a SELECT names no database")]
    [TestCase("*2\r\n$6\r\nSELECT\r\n$4\r\n9999\r\n*2\r\n$4\r\nINCR\r\n$1\r\nk\r\n", "has no database 9999")]
    [LongCase("*1\r\n$8\r\nshutdown\r\n", "it has SHUTDOWN")]
    [LongCase("*1\r\n$7\r\nDISCARD\r\n*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n", "it has DISCARD")]
    [TestCase("*4\r\n$6\r\nCONFIG\r\n$3\r\nSET\r\n$9\r\nmaxmemory\r\n$1\r\n1\r\n", "it has CONFIG")]
    [LongCase("*1\r\n$3\r\n\u001b[2\r\n", "it has ?[2, which is no change of data")]
    [LongCase("*2\r\n$8\r\nFUNCTION\r\n$4\r\nkill\r\n", "it has FUNCTION KILL")]
    [TestCase("*2\r\n$6\r\nSCRIPT\r\n$5\r\ndebug\r\n", "it has SCRIPT DEBUG")]
    [LongCase("*1\r\n$6\r\nASKING\r\n", "it has ASKING")]
    [LongCase("*3\r\n$7\r\nLATENCY\r\n$5\r\nRESET\r\n$1\r\nx\r\n", "it has LATENCY")]
    [TestCase("*2\r\n$4\r\nWAIT\r\n$1\r\nx\r\n", "it has WAIT")]
    [LongCase("*2\r\n$5\r\nLPUSH\r\n$1\r\nn\r\n", "does not take LPUSH")]
    public void Changes_that_cannot_be_end_it_and_what_came_before_is_there(string changes, string why)
    {
        using ServerProcess ours = Ours();
        using RespConnection other = new(ours.Address);
        string first = "*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n";
        using FakeSource source = FakeSource.OfData(FakeSource.Latin(s_empty + first), endsBehind: "");
        (int code, string said) = Migration.RunHere(source.Address, ours.Address, "--until-caught-up", "--timeout", "1");
        Assert.That(said, Does.Contain("cannot go on where the target is"), said); // it is silent, and then begins anew
        Assert.That(code, Is.EqualTo(65));
        using FakeSource goesOn = FakeSource.OfData(FakeSource.Latin("+CONTINUE\r\n" + changes), endsBehind: "");
        (code, said) = Migration.RunHere(goesOn.Address, ours.Address, "--until-caught-up", "--timeout", "5");
        Assert.That(code, Is.EqualTo(65).Or.EqualTo(64), said);
        Assert.That(said, Does.Contain(why).And.Not.Contain("\u001b"));
        Assert.That(other.Call("GET", "n").Text, Is.EqualTo("1"));
        Assert.That(other.Call("GET", "garnet:migration").Text, Does.Contain($" {OffsetBehindCopy + first.Length} "));
    }

    private static byte[] SmallRdb()
    {
        using ServerProcess redis = ServerProcess.TryStartRedis() ?? throw new IgnoreException("redis-server is not installed");
        using RespConnection at = new(redis.Address);
        foreach (string words in (string[])["SET k v PXAT 4000000000000", "RPUSH l a b", "SELECT 2", "ZADD z 1.5 m", "SADD i 7 9", "HSET h f v", "XADD x 1-1 f v", "SAVE"])
            Assert.That(at.Call(words.Split(' ')).ToString(), Does.Not.StartWith("-"));
        byte[] data = File.ReadAllBytes(Path.Combine(redis.Folder, "dump.rdb"));
        return [.. FakeSource.Latin($"${data.Length}\r\n"), .. data];
    }

    private static ServerProcess Ours() => ServerProcess.TryStartOurs("--databases 16") ?? throw new IgnoreException("our server is not built");
}
