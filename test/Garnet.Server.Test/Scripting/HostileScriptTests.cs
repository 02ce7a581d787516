using System.Globalization;
using Garnet.Common;

namespace Garnet.Server.Test.Scripting;

/// <summary>Scripts that mean harm: each ends in an error or a value, and the server and the next script are as before.</summary>
public sealed class HostileScriptTests
{
    private EmbeddedServer _server = null!;
    private TestClient _client = null!;

    [OneTimeSetUp]
    public void Start()
    {
        _server = new EmbeddedServer(adjust: static settings => settings.Scripts.MemoryBytesMax = 16 << 20);
        _client = new TestClient(_server.Server.Port);
    }

    [OneTimeTearDown]
    public void Stop()
    {
        _client.Dispose();
        _server.Dispose();
    }

    [TearDown]
    public void The_next_script_runs_as_ever() =>
        Assert.That(Run("local t = {} for i = 1, 10 do t[i] = i end return table.concat(t, ',') .. cjson.encode({a = 1}) .. #redis.sha1hex('')"), Is.EqualTo("1,2,3,4,5,6,7,8,9,10{\"a\":1}40"));

    // Long names of chunks while garbage is collected (row 39).
    [TestCase("for i = 1, 200 do local f = loadstring('return ' .. i, string.rep('n', 50000) .. i) collectgarbage() assert(f() == i) end return 'ok'", "ok")]
    [TestCase("for i = 1, 200 do loadstring(string.rep('(', i), '@' .. string.rep('=', 5000)) end return 'ok'", "ok")]
    // Bombs (row 40).
    [TestCase("return #string.rep('a', 2^31)", "0")] // below zero as an int of C: so in redis-server
    [TestCase("return #string.rep('ab', 2^31 - 1)", "ERR*")]
    [TestCase("return #string.rep('a', 2^30)", "ERR*not enough memory*")]
    [TestCase("return unpack({}, 1, 2^31 - 1)", "ERR*too many results to unpack*")]
    [TestCase("return unpack({}, -2^31, 2^31 - 1)", "ERR*too many results to unpack*")]
    [TestCase("local t = {} while true do t[#t + 1] = string.rep('x', 1000) .. #t end", "ERR*not enough memory*")]
    [TestCase("local s = 'x' while true do s = s .. s end", "ERR*not enough memory*")]
    [TestCase("local t = {} for i = 1, 100000 do t[i] = string.rep('x', 1000) end return #table.concat(t)", "ERR*not enough memory*")]
    [TestCase("return string.format('%99999d', 1)", "ERR*invalid format*")]
    [TestCase("return ('x'):rep(1e308)", "")] // the same
    [TestCase("local function f() return 1 + f() end return f()", "ERR*not enough memory*")]
    [TestCase("local t = setmetatable({}, {}) getmetatable(t).__index = t return t.x", "ERR*loop*")]
    // Brackets (row 41).
    [TestCase("return loadstring('return [' .. string.rep('=', 100000) .. '[') == nil", "1")]
    [TestCase("return loadstring('--[' .. string.rep('=', 100000)) ~= nil", "1")]
    // What all scripts share (row 42).
    [TestCase("string.rep = nil", "ERR*Attempt to modify a readonly table*")]
    [TestCase("_G.x = 1", "ERR*Attempt to modify a readonly table*")]
    [TestCase("rawset(redis, 'call', nil)", "ERR*Attempt to modify a readonly table*")]
    [TestCase("setmetatable(_G, nil)", "ERR*Attempt to modify a readonly table*")]
    [TestCase("setmetatable(math, {__index = function() return 1 end})", "ERR*Attempt to modify a readonly table*")]
    [TestCase("table.insert(redis, 1)", "ERR*")]
    [TestCase("table.sort(redis)", "nil")]
    [TestCase("redis = nil", "ERR*Attempt to modify a readonly table*")]
    [TestCase("KEYS.x = 1 ARGV.y = 2 return 'ok'", "ok")]
    [TestCase("return tostring(KEYS.x)", "nil")]
    // What is not there (row 43).
    [TestCase("return package", "ERR*nonexistent global variable 'package'*")]
    [TestCase("return require", "ERR*nonexistent global variable 'require'*")]
    [TestCase("return io", "ERR*nonexistent global variable 'io'*")]
    [TestCase("return debug", "ERR*nonexistent global variable 'debug'*")]
    [TestCase("return dofile", "ERR*nonexistent global variable 'dofile'*")]
    [TestCase("return os.execute", "nil")]
    [TestCase("return string.dump", "nil")]
    [TestCase("return loadstring('\\27Lua') == nil", "1")]
    [TestCase("return load(function() return nil end) ~= nil", "1")]
    public void A_script_that_means_harm_does_none(string script, string expected) => Judge(script, expected);

    // Libraries (row 44).
    [TestCase("return bit.lshift()", "ERR*number expected*")]
    [TestCase("return struct.pack('c' .. 2^40, 'x')", "ERR*")]
    [TestCase("return struct.pack('>i999999999999', 1)", "ERR*overflow*")]
    [TestCase("return struct.unpack('c0', 'abc')", "ERR*previous size*")]
    [TestCase("return struct.unpack('>I4c0', '\\255\\255\\255\\255abc')", "ERR*too short*")]
    [TestCase("return struct.unpack('I4', 'abcd', 2^31)", "ERR*")]
    [TestCase("return cmsgpack.unpack('\\221\\255\\255\\255\\255')", "ERR*Missing bytes*")]
    [TestCase("return cmsgpack.unpack('\\223\\255\\255\\255\\255\\192\\192')", "ERR*Bad data*")]
    [TestCase("return cmsgpack.unpack(string.rep('\\145', 100000))", "ERR*nested*")]
    [TestCase("return cjson.decode(string.rep('[', 100000))", "ERR*nested*")]
    [TestCase("return cjson.decode(string.rep('{\"a\":', 100000))", "ERR*nested*")]
    [TestCase("local t = {} for i = 1, 100000 do t = {t} end return cjson.encode(t)", "ERR*excessive nesting*")]
    [TestCase("local t = {1} for i = 1, 200 do t = {t, t} end return cjson.encode(t)", "ERR*not enough memory*")]
    [TestCase("return cjson.decode('[' .. string.rep('1,', 3000000) .. '1]')", "ERR*not enough memory*")]
    [TestCase("return #cjson.encode(string.rep('\\1', 10000000))", "ERR*not enough memory*")]
    [TestCase("local t = {} for i = 1, 100 do t[i] = 'x' end local s = string.rep('x', 1000000) return #table.concat(t, s)", "ERR*not enough memory*")]
    // Numbers that are none, and depth without end.
    [TestCase("return struct.unpack('b', 'x', 0/0)", "ERR*too short*")]
    [TestCase("return cjson.decode_max_depth(0/0)", "ERR*expected integer*")]
    [TestCase("cjson.decode_max_depth(2^31 - 1) return cjson.decode(string.rep('[', 1000000))", "ERR*nested*")]
    [TestCase("cjson.decode_max_depth(100000) return #cjson.decode(string.rep('[', 50000) .. string.rep(']', 50000))", "*")]
    [TestCase("cjson.encode_max_depth(100000) local t = {} for i = 1, 60000 do t = {t} end return #cjson.encode(t)", "*")]
    [TestCase("local s = string.rep('x', 3000000) return #cmsgpack.pack(s, s, s, s, s, s)", "ERR*not enough memory*")]
    [TestCase("local s = string.rep('x', 3000000) return #cmsgpack.pack({s, s, s, s, s, {s, s}})", "ERR*not enough memory*")]
    [TestCase("local s = string.rep('x', 3000000) return #struct.pack('ssssss', s, s, s, s, s, s)", "ERR*not enough memory*")]
    [TestCase("local s = string.rep('x', 3000000) return #string.gsub('aaaaaa', 'a', s)", "ERR*not enough memory*")]
    [TestCase("local s = string.rep('x', 3000000) return #string.gsub('aaaaaa', 'a', function() return s end)", "ERR*not enough memory*")]
    [TestCase("local s = string.rep('x', 5000000) return {s, s, s, s}", "ERR*larger than script-memory-limit*")]
    [TestCase("local t = {string.rep('x', 1000)} for i = 1, 60 do t = {t, t} end return t", "ERR*larger than script-memory-limit*")]
    [TestCase("return #loadstring('return ' .. string.rep('1 + ', 1000000) .. '1')", "ERR*")]
    [TestCase("return string.find(string.rep('a', 100000), string.rep('(a', 33))", "ERR*too many captures*")]
    [TestCase("return string.find(string.rep('a', 300000), string.rep('a?', 300000) .. 'b')", "*")]
    // Memory is judged when a function of the server returns, also without a loop.
    [TestCase("redis.call('SET', 'm', string.rep('x', 5000000)) local a = redis.call('GET', 'm') local b = redis.call('GET', 'm') local c = redis.call('GET', 'm') local d = redis.call('GET', 'm') return #d", "ERR*not enough memory*")]
    [TestCase("redis.call('SET', 'm', string.rep('x', 5000000)) local t = {} for i = 1, 9 do t[i] = redis.pcall('GET', 'm') end return #t", "ERR*not enough memory*")]
    [TestCase("redis.call('SET', 'm', string.rep('x', 5000000)) for i = 1, 50 do local a = redis.call('GET', 'm') end return 'ok'", "ok")]
    [TestCase("for i = 1, 9 do redis.call('RPUSH', 'l', unpack(cjson.decode('[' .. string.rep('1,', 7000) .. '1]'))) end local t = {} for i = 1, 90 do t[i] = redis.call('LRANGE', 'l', 0, -1) end return #t", "ERR*not enough memory*")]
    // What all scripts share, by the way of an iterator.
    [TestCase("local _, content = pairs(redis) content.call = nil return type(redis.call)", "ERR*Attempt to modify a readonly table*")]
    [TestCase("local _, content = ipairs(redis) content.call = nil return type(redis.call)", "ERR*Attempt to modify a readonly table*")]
    [TestCase("getmetatable('').__index = nil", "ERR*Attempt to modify a readonly table*")]
    // Replies (row 46).
    [TestCase("return redis.error_reply('x\\r\\n+OK')", "ERR x  +OK")]
    [TestCase("return redis.status_reply('x\\r\\n+OK')", "x  +OK")]
    [TestCase("return {err = 'MINE x\\r\\n:1'}", "MINE x  :1")]
    [TestCase("error({err = {}})", "ERR*")]
    [TestCase("error(nil)", "ERR*")]
    [TestCase("error(setmetatable({}, {__index = function() error('again') end}))", "ERR*")]
    [TestCase("error(redis)", "ERR*")]
    // Finalizers and the like run nothing.
    [TestCase("setmetatable({}, {__gc = function() error('late') end}) collectgarbage() return 'ok'", "ok")]
    [TestCase("local t = setmetatable({}, {__tostring = function() error('x') end}) return tostring(t)", "ERR*x*")]
    [TestCase("return coroutine.wrap(function() return redis.call('nonsense') end)()", "ERR*Unknown Redis command*")]
    [TestCase("return xpcall(function() error('x') end, function() error('y') end) == false", "1")]
    public void Libraries_and_replies_take_no_harm(string script, string expected) => Judge(script, expected);

    [Test]
    public void A_table_in_itself_is_cut_where_the_stack_ends()
    {
        Assert.That(Run("local t = {} t[1] = t return t"), Does.Contain("ERR reached lua stack limit"));
    }

    [Test]
    public void The_scripts_that_EVAL_leaves_behind_are_bounded()
    {
        _client.Call("SCRIPT", "FLUSH");
        string loaded = _client.Call("SCRIPT", "LOAD", "return 'stays'");
        for (int i = 0; i < 2_000; i++) Assert.That(Run("return " + i.ToString(CultureInfo.InvariantCulture)), Is.EqualTo(i.ToString(CultureInfo.InvariantCulture)));
        Assert.That(_client.Call("INFO", "memory"), Does.Contain("number_of_cached_scripts:501\r\n"));
        Assert.That(_client.Call("EVALSHA", loaded, "0"), Is.EqualTo("stays"));
    }

    // There is one user: what he may not do he may not do in a function either.
    [Test]
    public void A_function_may_do_no_more_than_its_caller()
    {
        Assert.That(_client.Call("FUNCTION", "LOAD", "#!lua name=rights\nredis.register_function('f', function() return redis.call('debug', 'sleep', 0) end)"), Is.EqualTo("rights"));
        Assert.That(_client.Call("FCALL", "f", "0"), Does.Contain("DEBUG command not allowed").Or.Contain("not allowed from script"));
        _client.Call("FUNCTION", "FLUSH");
    }

    [Test]
    public void Decoders_take_any_bytes()
    {
        var random = new Random(20_261_121);
        string[] calls = ["cjson.decode", "cmsgpack.unpack", "cmsgpack.unpack_one", "struct.unpack"];
        for (int i = 0; i < 3_000; i++)
        {
            string call = calls[random.Next(calls.Length)];
            string alphabet = call[1] == 'j' ? "[]{}:,\"\\u0123456789eE+-.truefalsn \n" : "\x81\x91\xa1\xc0\xc4\xc7\xca\xcb\xcf\xd3\xd9\xdb\xdc\xdd\xde\xdf\xff\0\x01\x7f";
            char[] text = [.. Enumerable.Range(0, random.Next(40)).Select(_ => random.Next(4) == 0 ? (char)random.Next(256) : alphabet[random.Next(alphabet.Length)])];
            string formats = "<>!=bBhHlLiIfdsxc0123 ";
            string format = string.Concat(Enumerable.Range(0, random.Next(1, 8)).Select(_ => formats[random.Next(formats.Length)]));
            string script = call[0] == 's' ? "return {pcall(struct.unpack, ARGV[2], ARGV[1])}" : $"local ok, v = pcall({call}, ARGV[1]) if ok and type(v) == 'table' then pcall(cjson.encode, v) pcall(cmsgpack.pack, v) end return 'done'";
            Assert.That(_client.Call("EVAL", script, "0", new string(text), format), Is.Not.Null);
        }
    }

    private string Run(string script) => _client.Call("EVAL", script, "0");

    private void Judge(string script, string expected)
    {
        string reply = Run(script);
        if (expected.Contains('*', StringComparison.Ordinal))
            Assert.That(new Glob(System.Text.Encoding.Latin1.GetBytes(expected)).Matches(System.Text.Encoding.Latin1.GetBytes(reply)), Is.True, reply);
        else
            Assert.That(reply, Is.EqualTo(expected));
    }
}
