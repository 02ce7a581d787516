using Garnet.Common.Test;
using Garnet.Server.Test;
using Garnet.Wire.Persistence;
using NUnit.Framework;

namespace Garnet.Wire.Scripting;

/// <summary>A server whose script does not end ends all the same when it is told to, in order: what was written before is there.</summary>
[Parallelizable] // servers of its own
internal sealed class ScriptEndTests
{
    private static readonly string[] Endless =
    [
        "while true do pcall(function() while true do end end) end",
        "local function f() while true do coroutine.resume(coroutine.create(f)) end end f()",
        "xpcall(function() error('x') end, function() while true do end end)",
        "return string.find(string.rep('a', 3000000), '.-.-b')",
        "local t = {} for i = 1, 60 do t = {t, t} end return t",
    ];

    /// <summary>Each of many refusals in one reply is written where the reply is, wherever it has moved to (common.R1).</summary>
    [Test]
    public void Transactions_of_strangers_are_refused_while_a_script_is_busy([Values(1, 60, 90, 2000)] int count, [Values("EXEC\r\n", "MULTI\r\nEXEC\r\n")] string text, [Values] bool hasPassword)
    {
        using DataServer server = new("--busy-reply-threshold 10 --reactor-threads 1" + (hasPassword ? " --requirepass secret" : ""));
        using RespConnection client = server.Connect(), other = server.Connect(), ends = server.Connect();
        foreach (RespConnection known in (RespConnection[])[client, ends])
        {
            if (hasPassword) Assert.That(known.Call("AUTH", "secret").ToString(), Is.EqualTo("+OK"));
        }

        Eventually.Holds(() => ends.Call("SET", "loaded", "1").ToString() == "+OK");
        client.Send(RespConnection.Encode("EVAL", "while true do end", "0"));
        Eventually.Holds(() => ends.Call("PING").ToString().StartsWith("-BUSY", StringComparison.Ordinal));
        int replies = count * (text.Length > 6 ? 2 : 1);
        other.Send(System.Text.Encoding.Latin1.GetBytes(string.Concat(Enumerable.Repeat(text, count))));
        for (int i = 0; i < replies; i++)
        {
            string reply = other.Read().ToString();
            if (hasPassword && reply.StartsWith("-ERR the reply of", StringComparison.Ordinal)) break; // more than a stranger may get
            Assert.That(reply, hasPassword ? Does.StartWith("-NOAUTH").Or.StartWith("-EXECABORT") : Does.StartWith("+OK").Or.StartWith("-EXECABORT").Or.StartWith("-ERR EXEC without MULTI"));
        }

        Assert.That(ends.Call("SCRIPT", "KILL").ToString(), Is.EqualTo("+OK"));
    }

    // A short run takes each script one way or the other.
    private static IEnumerable<object[]> Ends() =>
        LongRun.PartOf(Endless, every: 2).Select(static script => new object[] { script, false })
            .Concat(LongRun.PartOf(Endless, every: 2, first: 1).Select(static script => new object[] { script, true }));

    [TestCaseSource(nameof(Ends))]
    public void It_ends_by_command_and_by_signal(string script, bool bySignal)
    {
        using DataServer server = new("--busy-reply-threshold 10");
        using (RespConnection client = server.Connect(), other = server.Connect())
        {
            Assert.That(other.Call("SET", "before", "1").ToString(), Is.EqualTo("+OK"));
            client.Send(RespConnection.Encode("EVAL", script, "0"));
            Eventually.Holds(() => other.Call("PING").ToString().StartsWith("-BUSY", StringComparison.Ordinal));
            if (bySignal) server.Terminate();
            else server.Stop();
        }

        server.Start();
        using RespConnection again = server.Connect();
        Assert.That(again.Call("GET", "before").Text, Is.EqualTo("1"));
    }
}
