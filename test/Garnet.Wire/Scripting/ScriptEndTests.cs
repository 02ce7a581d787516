using Garnet.Wire.Persistence;
using NUnit.Framework;

namespace Garnet.Wire.Scripting;

/// <summary>A server whose script does not end ends all the same when it is told to, in order: what was written before is there.</summary>
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

    [Test]
    public void It_ends_by_command_and_by_signal([ValueSource(nameof(Endless))] string script, [Values] bool bySignal)
    {
        using DataServer server = new("--busy-reply-threshold 10");
        using (RespConnection client = server.Connect(), other = server.Connect())
        {
            Assert.That(other.Call("SET", "before", "1").ToString(), Is.EqualTo("+OK"));
            client.Send(RespConnection.Encode("EVAL", script, "0"));
            while (!other.Call("PING").ToString().StartsWith("-BUSY", StringComparison.Ordinal)) Thread.Yield();
            if (bySignal) server.Terminate();
            else server.Stop();
        }

        server.Start();
        using RespConnection again = server.Connect();
        Assert.That(again.Call("GET", "before").Text, Is.EqualTo("1"));
    }
}
