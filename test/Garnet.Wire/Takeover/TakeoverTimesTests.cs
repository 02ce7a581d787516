using System.Buffers.Binary;
using NUnit.Framework;

namespace Garnet.Wire.Takeover;

/// <summary>garnet-server migrate and keys that expire: while they are followed, when writers wait for the end, and when they are compared.</summary>
[Parallelizable] // its servers are its own
internal sealed class TakeoverTimesTests
{
    private const long Later = 35_000_000_000_000;

    // A Redis of 7.0 looks for a key that is not due for ever, where all are and nothing may be removed.
    [Test]
    public void A_source_whose_keys_are_all_due_while_writers_wait_still_answers()
    {
        using var pair = new Pair();
        for (int i = 0; i < 1_000; i++) pair.At.Call("SET", $"k{i}", "v");
        pair.At.Call("SELECT", "3");
        pair.At.Call("SET", "lock", "1", "PX", "700");
        pair.At.Call("CLIENT", "PAUSE", "60000", "WRITE");
        using (Migration run = Migration.Begin($"{pair.Redis.Address}", $"{pair.Ours.Address}", "--cut-over", "--verify", "100", "--timeout", "10"))
        {
            (int code, string said) = run.End();
            Assert.That(code, Is.Zero, said);
            Assert.That(said, Does.Contain(": 0 differ."));
        }
        using RespConnection still = new(pair.Redis.Address);
        Assert.That(still.Call("PING").Text, Is.EqualTo("PONG"));
    }

    [Test]
    public void Keys_that_are_due_soon_keep_later_times_until_writers_wait()
    {
        using ServerProcess ours = Ours();
        using RespConnection other = new(ours.Address);
        long near = DateTimeOffset.UtcNow.AddMinutes(30).ToUnixTimeMilliseconds(), far = DateTimeOffset.UtcNow.AddHours(3).ToUnixTimeMilliseconds();
        string data = $"REDIS0009\u00fc{Bytes(near)}\0\u0004near\u00015\u00fc{Bytes(far)}\0\u0003far\u00015\u00ff" + new string('\0', 8);
        string nearThen = "", farThen = "";
        using FakeSource source = new(words =>
        {
            if (words[0] == "CLIENT" && words[1] == "PAUSE") (nearThen, farThen) = (other.Call("PEXPIRETIME", "near").Text, other.Call("PEXPIRETIME", "far").Text);
            return words[0] switch
            {
                "PSYNC" => [FakeSource.Latin($"+FULLRESYNC {FakeSource.History} 1000\r\n${data.Length}\r\n{data}")],
                _ => null,
            };
        });
        (int code, string said) = Migration.RunHere(source.Address, ours.Address, "--cut-over", "--pause-source", "60", "--verify", "0");
        Assert.That(code, Is.Zero, said);
        Assert.That((nearThen, farThen), Is.EqualTo(($"{near + Later}", $"{far}")));
        Assert.That((other.Call("PEXPIRETIME", "near").Text, other.Call("PEXPIRETIME", "far").Text), Is.EqualTo(($"{near}", $"{far}")));
    }

    // As sources before 7.0 send them.
    [Test]
    public void Times_from_now_on_in_a_stream_are_moments_once_they_have_come()
    {
        using ServerProcess ours = Ours();
        using RespConnection other = new(ours.Address);
        string changes = string.Concat(((string[])["SET a v", "EXPIRE a 9000", "SET b v", "PEXPIRE b 9000000", "SETEX c 9000 v", "PSETEX d 9000000 v", "SET e v EX 9000", "SET f v", "SET f v XX PX 9000000",
            "SET g v", "GETEX g EX 9000", "SET h v", "EXPIREAT h 4000000000", "SET gone v", "EXPIRE gone 0"]).Select(static words => System.Text.Encoding.Latin1.GetString(RespConnection.Encode(words.Split(' ')))));
        string data = "REDIS0009\u00ff" + new string('\0', 8), info = $"role:master\r\nmaster_repl_offset:{100 + changes.Length}";
        using FakeSource source = new(words => words[0] switch
        {
            "PSYNC" => [FakeSource.Latin($"+FULLRESYNC {FakeSource.History} 100\r\n${data.Length}\r\n{data}{changes}")],
            "INFO" => [FakeSource.Latin($"${info.Length}\r\n{info}\r\n")],
            _ => null,
        });
        long before = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();
        (int code, string said) = Migration.RunHere(source.Address, ours.Address, "--until-caught-up", "--verify", "0");
        long after = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();
        Assert.That(code, Is.Zero, said);
        foreach (string key in (string[])["a", "b", "c", "d", "e", "f", "g"])
            Assert.That(long.Parse(other.Call("PEXPIRETIME", key).Text) - Later - 9_000_000, Is.InRange(before, after), key);
        Assert.That(other.Call("PEXPIRETIME", "h").Text, Is.EqualTo($"{4_000_000_000_000 + Later}"));
        Assert.That(other.Call("EXISTS", "gone").Text, Is.EqualTo("0"));
    }

    [Test]
    public void A_comparison_ends_with_the_pause()
    {
        using ServerProcess ours = Ours();
        using RespConnection other = new(ours.Address);
        string data = "REDIS0009\u00ff" + new string('\0', 8);
        using FakeSource source = new(words => words[0] switch // with keys without an end
        {
            "PSYNC" => [FakeSource.Latin($"+FULLRESYNC {FakeSource.History} 1000\r\n${data.Length}\r\n{data}")],
            "INFO" => [FakeSource.Latin("$58\r\nrole:master\r\nmaster_repl_offset:1000\r\ndb0:keys=9,expires=0\r\n")],
            "SCAN" => [FakeSource.Latin("*2\r\n$1\r\n7\r\n*1\r\n$1\r\nk\r\n")],
            "PTTL" => [FakeSource.Latin(":-2\r\n")],
            "DUMP" => [FakeSource.Latin("$-1\r\n")],
            _ => null,
        });
        (int code, string said) = Migration.RunHere(source.Address, ours.Address, "--cut-over", "--pause-source", "2", "--verify", "all");
        Assert.That(code, Is.EqualTo(1), said);
        Assert.That(said, Does.Contain("The comparison has ended too soon").And.Contain("The pause of the source has ended too soon").And.Not.Contain("Done"));
        Assert.That(other.Call("GET", "garnet:migration").Text, Does.EndWith(" mixed"));
    }

    private static string Bytes(long value)
    {
        byte[] bytes = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, value);
        return System.Text.Encoding.Latin1.GetString(bytes);
    }

    private static ServerProcess Ours() => ServerProcess.TryStartOurs("--databases 16") ?? throw new IgnoreException("our server is not built");
}
