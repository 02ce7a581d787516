namespace Garnet.Lua.Test;

/// <summary>Lua 5.1 as scripts of Redis have it, without a server around it.</summary>
public sealed class SandboxTests
{
    [TestCase("return 7 / 2", "3.5")]
    [TestCase("return 10 % 3 .. ''", "1")]
    [TestCase("return -5 % 3", "1")]
    [TestCase("return 2^53 .. ''", "9.007199254741e+15")]
    [TestCase("return tostring(1e15)", "1e+15")]
    [TestCase("return #unpack({'abc'})", "3")]
    [TestCase("return string.format('%5.1f', 3.14159)", "  3.1")]
    [TestCase("return cjson.encode({1, 2, {a = 'b'}})", "[1,2,{\"a\":\"b\"}]")]
    [TestCase("return cjson.decode('[1,[2]]')[2][1]", "2")]
    [TestCase("return cmsgpack.unpack(cmsgpack.pack({7, 'x'}))[2]", "x")]
    [TestCase("return struct.unpack('>I2', struct.pack('>I2', 258))", "258")]
    [TestCase("local t = {3, 1, 2} table.sort(t) return table.concat(t, ',')", "1,2,3")]
    public void A_script_gives_what_Lua_of_Redis_gives(string source, string result)
    {
        using var sandbox = new Sandbox();
        Assert.That(sandbox.Run(source), Is.EqualTo(result));
    }

    [TestCase("return 7 // 2")]
    [TestCase("return 1 & 1")]
    [TestCase("goto done ::done::")]
    [TestCase("local x <const> = 1")]
    public void What_came_into_the_language_later_is_no_Lua_here(string source)
    {
        using var sandbox = new Sandbox();
        Assert.That(sandbox.Run(source), Does.StartWith("!"));
    }

    [TestCase("x = 1")]
    [TestCase("return undeclared")]
    [TestCase("return os.execute('true')")]
    [TestCase("return io.open('/etc/passwd')")]
    [TestCase("return loadfile('/etc/passwd')")]
    public void A_script_reaches_nothing_beyond_its_box(string source)
    {
        using var sandbox = new Sandbox();
        Assert.That(sandbox.Run(source), Does.StartWith("!"));
    }

    [TestCase("while true do end")]
    [TestCase("return string.rep('', 1e18)")]
    [TestCase("while true do pcall(function() while true do end end) end")]
    [TestCase("local c = coroutine.wrap(function() while true do end end) c()")]
    [TestCase("return string.find(string.rep('a', 3000000), '.-.-b')")]
    public void What_runs_for_ever_ends_when_it_is_told_to(string source)
    {
        using var sandbox = new Sandbox { IsToEnd = true };
        sandbox.Run(source);
        sandbox.IsToEnd = false;
        Assert.That(sandbox.Run("return 'alive'"), Is.EqualTo("alive"));
    }

    // How often it is looked at must not depend on how deep it is: a look that walks all frames would never come to the end of the stack.
    [TestCase("local function f() return 1 + f() end return f()", "stack overflow")]
    [TestCase("local function f() return 1 + f() end return pcall(f) and 'no' or 'yes'", "yes")]
    [TestCase("local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end return f(100000)", "100000")]
    [TestCase("local function f(n) if n == 0 then return 0 end return 1 + f(n - 1) end local sum = 0 for i = 1, 50 do sum = sum + f(50000) end return sum", "2500000")]
    public void A_recursion_ends_at_the_end_of_the_stack(string source, string result)
    {
        using var sandbox = new Sandbox(128 << 20);
        Assert.That(sandbox.Run(source), Does.Contain(result));
        Assert.That(sandbox.Run("return 'alive'"), Is.EqualTo("alive"));
    }

    [TestCase("local t = {} while true do t[#t + 1] = string.rep('x', 1000) end")]
    [TestCase("local s = 'x' while true do s = s .. s end")]
    [TestCase("local t = {} for i = 1, 1e9 do t[i] = {} end")]
    public void A_script_that_takes_too_much_memory_ends_in_an_error_and_gives_it_back(string source)
    {
        using var sandbox = new Sandbox(8 << 20);
        Assert.That(sandbox.Run(source), Does.Contain("memory"));
        sandbox.State.CollectAll();
        Assert.That(sandbox.State.UsedBytes, Is.LessThan(1 << 20));
        Assert.That(sandbox.Run("return 'alive'"), Is.EqualTo("alive"));
    }
}
