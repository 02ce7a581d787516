using System.Diagnostics;
using System.Globalization;
using Garnet.Common.Test.Resp;
using Garnet.Common.Test;

namespace Garnet.Server.Test.Scripting;

/// <summary>Calls of all functions that a script has, with arguments at the ends of their ranges and of the wrong kind: each ends in a value or an error.</summary>
public sealed class NativeCallFuzzTests
{
    private static readonly string[] Functions =
    [
        "string.byte", "string.char", "string.find", "string.format", "string.gmatch", "string.gsub", "string.len", "string.lower", "string.match", "string.rep", "string.reverse",
        "string.sub", "string.upper", "table.concat", "table.insert", "table.remove", "table.sort", "table.getn", "table.maxn", "table.foreach", "table.foreachi", "unpack", "select",
        "math.abs", "math.ceil", "math.floor", "math.fmod", "math.frexp", "math.ldexp", "math.max", "math.min", "math.modf", "math.pow", "math.random", "math.randomseed", "math.log10",
        "bit.tobit", "bit.tohex", "bit.band", "bit.lshift", "bit.rol", "bit.bswap", "bit.arshift", "cjson.encode", "cjson.decode", "cjson.encode_max_depth", "cjson.decode_max_depth",
        "cjson.encode_number_precision", "cjson.encode_sparse_array", "cjson.decode_invalid_numbers", "cjson.encode_invalid_numbers", "cjson.encode_keep_buffer",
        "cjson.decode_array_with_array_mt", "cmsgpack.pack", "cmsgpack.unpack", "cmsgpack.unpack_one", "cmsgpack.unpack_limit", "struct.pack", "struct.unpack", "struct.size",
        "tonumber", "tostring", "ipairs", "pairs", "next", "rawget", "rawset", "rawequal", "setmetatable", "getmetatable", "loadstring", "load", "assert", "error", "pcall", "xpcall",
        "coroutine.create", "coroutine.resume", "coroutine.wrap", "coroutine.status", "coroutine.yield", "redis.sha1hex", "redis.log", "redis.error_reply", "redis.status_reply", "redis.setresp",
        "redis.set_repl", "redis.acl_check_cmd", "redis.call", "redis.pcall", "collectgarbage", "gcinfo", "os.clock",
    ];

    private static readonly string[] Values =
    [
        "0/0", "-(0/0)", "1/0", "-1/0", "0", "-0", "1", "-1", "2", "0.5", "-0.5", "255", "256", "2^15", "2^16", "2^31", "2^31-1", "-2^31", "-2^31-1", "2^32", "2^32+1", "2^53", "2^53+1", "2^62", "2^63",
        "-2^63", "2^64", "1e18", "1e300", "5e-324", "nil", "true", "false", "''", "'a'", "'\\0'", "'%'", "'%5'", "'[a'", "'%b()'", "'(()'", "'.-b'", "'c0'", "'!8i33'", "'i32'", "'>I4c0'", "'s'",
        "'[[1,2],{\"a\":null}]'", "'1e999'", "'nan'", "'\\221\\255\\255\\255\\255'", "'\\223\\255\\255\\255\\255\\1\\1'", "string.rep('[', 5000)", "string.rep('\\145', 5000)", "string.rep('a', 70000)",
        "{}", "{1, 2, 3}", "{[2^53] = 1}", "{[-1] = 1, [1.5] = 2}", "setmetatable({}, {__len = function() return 2^53 end})", "setmetatable({}, {__index = function() return 1 end})", "deep", "itself", "redis",
        "print", "math.floor", "function() end", "function(...) return ... end", "function() error({}) end", "coroutine.create(function() coroutine.yield(1) end)", "_G", "cjson.null", "''", "'GET'", "'k'", "'EVAL'",
    ];

    [Test]
    public void Every_function_takes_any_arguments()
    {
        int seed = FuzzStream.Seed;
        TestContext.Out.WriteLine("GARNET_FUZZ_SEED=" + seed.ToString(CultureInfo.InvariantCulture));
        var random = new Random(seed);
        using var server = new EmbeddedServer(adjust: static settings => (settings.Scripts.MemoryBytesMax, settings.Scripts.BusyMilliseconds) = (16 << 20, 500));
        using var client = new TestClient(server.Server.Port);
        using var done = new CancellationTokenSource();
        Task killer = Task.Run(() => KillWhatTakesLong(server.Server.Port, done.Token));
        long from = Stopwatch.GetTimestamp();
        int calls = 0;
        for (; Stopwatch.GetElapsedTime(from).TotalSeconds < FuzzStream.Seconds; calls++)
        {
            string script = Script(random);
            string? reply = null;
            try
            {
                reply = client.Call("EVAL", script, "0");
            }
            finally
            {
                if (reply is null) TestContext.Out.WriteLine("no reply to " + script);
            }

            if (calls % 100 == 0) Assert.That(client.Call("EVAL", "return cjson.encode({1}) .. string.rep('x', 3) .. math.floor(2.5)", "0"), Is.EqualTo("[1]xxx2"), script);
        }

        done.Cancel();
        killer.Await();
        TestContext.Out.WriteLine($"{calls} scripts");
    }

    // A call may take as long as it likes, such as to move 2^31 items: but not against somebody's will.
    private static void KillWhatTakesLong(int port, CancellationToken done)
    {
        using var client = new TestClient(port);
        while (!done.IsCancellationRequested)
            Assert.That(client.Call("SCRIPT", "KILL"), Is.EqualTo("OK").Or.StartWith("NOTBUSY"));
    }

    // Some of the results are arguments of the next call.
    private static string Script(Random random)
    {
        string before = "local deep = {} for i = 1, 3000 do deep = {deep} end local itself = {} itself[1] = itself local print, last = nil, nil ";
        string calls = string.Concat(Enumerable.Range(0, random.Next(1, 4)).Select(_ => $"ok, last = pcall({Pick(random, Functions)}{string.Concat(Enumerable.Range(0, random.Next(5)).Select(_ => ", " + Value(random)))}) "));
        return before + "local ok " + calls + "return {tostring(ok), type(last)}";
    }

    private static string Value(Random random) => random.Next(6) == 0 ? "last" : Pick(random, Values);

    private static string Pick(Random random, string[] from) => from[random.Next(from.Length)];
}
