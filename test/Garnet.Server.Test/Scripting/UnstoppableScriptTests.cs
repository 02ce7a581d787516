using System.Diagnostics;
using Garnet.Common.Test;

namespace Garnet.Server.Test.Scripting;

/// <summary>Scripts that go on for ever, each in a place of its own: whoever wants one to end is served, and it ends; so does the server.</summary>
[NonParallelizable] // how long a script goes on is judged
public sealed class UnstoppableScriptTests
{
    // A tenth of a second is wanted; the rest is for machines that have a lot to do, and take long to copy 50 MB: some scripts do before they can be heard.
    private const double EndSecondsMax = 2, EndCopiesMax = 20;
    private const string Copy = "local s = string.rep('x', 50000000) return #(s .. 'a')";

    private const string Emptied = "local t = {} for i = 1, 500000 do t[i] = i end for i = 1, 500000 do t[i] = nil end local u = {} for i = 1, 500000 do u[i] = t end ";
    private const string Lies = "local t = setmetatable({}, {__len = function() return 2^53 end, __index = function() return '' end}) while true do ";

    private static readonly string[] Shapes =
    [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "repeat pcall(function() local function f() return f() + 1 end f() end) until false",
        "while true do string.rep('', 1e18) end",
        // Lengths that lie.
        Lies + "table.remove(t, 1) end", Lies + "table.insert(t, 1, 1) end", Lies + "table.concat(t) end", Lies + "table.sort(t) end", Lies + "pcall(unpack, t) end",
        // Threads, each with a count of its own.
        "local function f() while true do coroutine.resume(coroutine.create(f)) end end f()",
        "local function f() for i = 1, 100 do pcall(coroutine.wrap(f)) end end while true do f() end",
        "local next = coroutine.wrap(function() while true do coroutine.yield(1) end end) while true do next() end",
        "while true do coroutine.create(function() end) end",
        // Handlers, and what runs when something ends.
        "xpcall(function() error('x') end, function() while true do end end)",
        "while true do xpcall(function() while true do end end, function() while true do end end) end",
        "for a in next, {}, nil, setmetatable({}, {__close = function() while true do end end}) do end while true do end",
        "local t = setmetatable({}, {__newindex = function() while true do end end, __tostring = function() while true do end end}) local a, b, c, d = t, t, t, t while true do end",
        "error(setmetatable({}, {__newindex = function() while true do end end, __index = function() while true do end end})) while true do end",
        "while true do pcall(error, string.rep('attempt to ', 100000)) end",
        // Patterns.
        "return string.find(string.rep('a', 3000000), '.-.-b')",
        "return string.find(string.rep('a', 3000000), string.rep('a*', 20) .. 'b')",
        "return string.match(string.rep('a', 300000), '(a*)(a*)(a*)%1b')",
        "return string.gsub(string.rep('a', 3000000), '.-.-b', '')",
        "return string.gsub(string.rep('a', 3000000), '.-.-b', function() end)",
        "for w in string.gmatch(string.rep('a', 3000000), '.-.-b') do end",
        "return string.find(string.rep('(', 3000000), '%b()')",
        "return string.find(string.rep('a', 3000000), '[' .. string.rep('b', 100000) .. ']')",
        "return string.find(string.rep('a', 20000000), string.rep('a', 10000000) .. 'b', 1, true)",
        "while true do tonumber('a' .. string.rep(' ', 1000000) .. 'b') end",
        // Small things that stand for large ones.
        "local t = {1} for i = 1, 60 do t = {t, t} end while true do pcall(cjson.encode, t) end",
        "local t = {} for i = 1, 60 do t = {t, t} end return t",
        Emptied + "return cjson.encode(u)", Emptied + "return cmsgpack.pack(u)", Emptied + "return {map = {u}}", Emptied + "while true do next(t) end",
        // Steps that take long.
        "local s = string.rep('x', 50000000) while true do local u = s .. 'a' end",
        "local s = string.rep('x', 30000000) local a, b = s .. 'a', s .. 'b' while true do local c = a < b end",
        "local t = {} for i = 1, 300000 do t[i] = {} end while true do pcall(string.rep, 'x', 1e9) end",
        "local s = {} for i = 1, 30 do s[i] = string.rep('x', 1000000) .. i end local t = {} for i = 1, 1000000 do t[i] = s[i % 30 + 1] end table.sort(t)",
        "local t = {} for i = 1, 300000 do t[i] = i end while true do pcall(table.sort, t, rawequal) end",
        "local t = {} for i = 1, 1000000 do t[i] = 'x' end while true do table.insert(t, 1, 'x') table.remove(t, 1) table.concat(t) end",
        "while true do string.upper(string.rep('x', 50000000)) end",
        "while true do loadstring(string.rep('local a = 1 ', 50000)) end",
        // Commands.
        "while true do pcall(redis.call, 'nonsense') redis.pcall('GET', 'x') end",
        "redis.replicate_commands() while true do redis.call('ping') end",
    ];

    private static readonly string[] Some = [Shapes[0], .. Shapes.Where(static shape => shape.Contains("coroutine.resume", StringComparison.Ordinal)
        || shape.StartsWith("xpcall", StringComparison.Ordinal) || shape.Contains(".-.-b', '')", StringComparison.Ordinal) || shape.Contains("return t", StringComparison.Ordinal))];

    [Test]
    public void Whoever_kills_it_is_heard_and_it_ends()
    {
        // One reactor: who kills it can only be heard out of the script.
        using var server = new EmbeddedServer(adjust: static settings => (settings.Network.ReactorThreads, settings.Scripts.BusyMilliseconds) = (1, 50));
        var late = new List<string>();
        double most = Math.Max(EndSecondsMax, EndCopiesMax * SecondsToCopy(server.Server.Port));
        foreach (string shape in Shapes)
        {
            double seconds = SecondsToEnd(server.Server.Port, shape);
            TestContext.Out.WriteLine($"{seconds * 1000:F1} ms: {shape}");
            if (seconds > most) late.Add(shape);
        }

        Assert.That(late, Is.Empty);
    }

    [Test]
    public void A_library_that_does_not_end_while_it_is_loaded_is_stopped_and_leaves_nothing()
    {
        using var server = new EmbeddedServer(adjust: static settings => settings.Network.ReactorThreads = 1);
        using var client = new TestClient(server.Server.Port);
        IEnumerable<string> endless = Shapes.Where(static shape => !shape.Contains("redis.", StringComparison.Ordinal) && !shape.Contains("return", StringComparison.Ordinal));
        foreach (string shape in LongRun.PartOf(endless, every: 4)) // that each of them is stopped, another test says
            Assert.That(client.Call("FUNCTION", "LOAD", "#!lua name=lib\n" + shape), Does.StartWith("ERR"), shape);
        Assert.That(client.Call("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 'ok' end)"), Is.EqualTo("lib"));
        Assert.That(client.Call("FCALL", "f", "0"), Is.EqualTo("ok"));
    }

    [Test]
    [CancelAfter(120_000)]
    public void A_server_that_is_told_to_stop_stops([ValueSource(nameof(Some))] string shape)
    {
        var server = new EmbeddedServer(adjust: static settings => (settings.Network.ReactorThreads, settings.Scripts.BusyMilliseconds) = (2, 1));
        using var client = new TestClient(server.Server.Port);
        client.Send("EVAL", shape, "0");
        Eventually.Holds(() => server.Server.Context.Workers.RunningScript() is not null);
        server.Dispose();
    }

    private static double SecondsToCopy(int port)
    {
        using TestClient client = new(port);
        long from = Stopwatch.GetTimestamp();
        Assert.That(client.Call("EVAL", Copy, "0"), Is.EqualTo("50000001"));
        return Stopwatch.GetElapsedTime(from).TotalSeconds;
    }

    private static double SecondsToEnd(int port, string shape)
    {
        using TestClient client = new(port), killer = new(port);
        client.Send("EVAL", shape, "0");
        Task<string> reply = Task.Run(client.Read);
        long from = 0;
        Patience.Until(() =>
        {
            from = Stopwatch.GetTimestamp();
            return reply.IsCompleted || killer.Call("SCRIPT", "KILL") == "OK";
        });
        Assert.That(reply.InTime(), Does.Contain("Script killed by user").Or.Not.StartWith("["), shape);
        double seconds = Stopwatch.GetElapsedTime(from).TotalSeconds;
        Assert.That(killer.Call("EVAL", "local t = {} for i = 1, 3 do t[i] = i end return table.concat(t, ',') .. coroutine.wrap(function() return 4 end)()", "0"), Is.EqualTo("1,2,34"), "after " + shape);
        return seconds;
    }
}
