using System.Text;
using Garnet.Lua;
using Garnet.Server.Commands;
using Garnet.Server.Scripting;

using Function = System.Func<Garnet.Lua.LuaStack, int>;

namespace Garnet.Server.Families.Scripting;

/// <summary>What a script can call of the server: the functions of the table <c>redis</c>, and what the prelude needs.</summary>
internal static class RedisFunctions
{
    private const int LogCharactersMax = 1024; // as redis cuts a line of its log

    /// <summary>All of them, by the names that the prelude knows.</summary>
    internal static List<KeyValuePair<string, Function>> For(ScriptHost host, ServerContext server, CommandRun commands) =>
        [
            new("call", stack => commands.Call(stack, host.Running)),
            new("pcall", stack => commands.Call(stack, host.Running)),
            new("error_reply", ErrorReply),
            new("status_reply", StatusReply),
            new("sha1hex", Sha1Hex),
            new("log", stack => Log(stack, server)),
            new("setresp", stack => SetResp(stack, host)),
            new("set_repl", SetRepl),
            new("acl_check_cmd", stack => commands.MayCall(stack, host.Running)),
            new("breakpoint", NoBreakpoint),
            new("debug", static _ => 0), // as where no debugger looks on
            new("register_function", host.Functions.Register),
            new("version", stack => Text(stack, server.Settings.Inspect.RedisVersion)),
            new("versionNumber", stack => Version(stack, server.Settings.Inspect.RedisVersion)),
        ];

    private static int NoBreakpoint(LuaStack stack)
    {
        stack.Push(false);
        return 1;
    }

    private static int Text(LuaStack stack, string text)
    {
        stack.Push(text);
        return 1;
    }

    private static int Version(LuaStack stack, string version)
    {
        int number = 0;
        foreach (string part in (version + ".0.0").Split('.')[..3])
            number = (number << 8) | (int.TryParse(part, out int value) ? value : 0);
        stack.Push((double)number);
        return 1;
    }

    private static int Field(LuaStack stack, ReadOnlySpan<byte> name, ReadOnlySpan<byte> text)
    {
        stack.NewTable(0, 1);
        stack.Push(text);
        stack.SetField(name);
        return 1;
    }

    private static int FailArguments(LuaStack stack) => Field(stack, "err"u8, "ERR wrong number or type of arguments"u8);

    // An error without a code gets the general one; a leading minus says that there is a code.
    private static int ErrorReply(LuaStack stack)
    {
        if (stack.Count != 1 || !stack.IsString(1))
            return FailArguments(stack);
        ReadOnlySpan<byte> text = stack.Bytes(1);
        if (text.StartsWith("-"u8))
            text = text[1..];
        int end = text.IndexOfAny("\r\n"u8);
        if (end >= 0 && text[end..].IndexOfAnyExcept("\r\n"u8) < 0)
            text = text[..end];
        return text.Contains((byte)' ') ? Field(stack, "err"u8, text) : Field(stack, "err"u8, [.. "ERR "u8, .. text]);
    }

    private static int StatusReply(LuaStack stack) => stack.Count != 1 || !stack.IsString(1)
        ? FailArguments(stack)
        : Field(stack, "ok"u8, stack.Bytes(1));

    private static int Sha1Hex(LuaStack stack)
    {
        if (stack.Count != 1)
            return stack.Fail("wrong number of arguments"u8, isPlaced: false);
        Span<byte> number = stackalloc byte[32];
        ReadOnlySpan<byte> text = stack.IsNumber(1)
            ? number[..CommandRun.Spell(stack.Number(1), number)]
            : stack.IsString(1) ? stack.Bytes(1) : default;
        return Text(stack, ScriptName.Of(text).ToString());
    }

    private static int Log(LuaStack stack, ServerContext server)
    {
        if (stack.Count < 2)
            return stack.Fail("redis.log() requires two arguments or more."u8, isPlaced: false);
        if (!stack.IsNumber(1))
            return stack.Fail("First argument must be a number (log level)."u8, isPlaced: false);
        double level = stack.Number(1);
        if (level is not (>= 0 and <= 3))
            return stack.Fail("Invalid debug level."u8, isPlaced: false);
        var text = new StringBuilder();
        for (int i = 2; i <= stack.Count && text.Length < LogCharactersMax; i++)
        {
            if (stack.IsString(i))
                text.Append(i > 2 ? " " : "")
                    .Append(Encoding.UTF8.GetString(stack.Bytes(i)[..Math.Min(stack.Bytes(i).Length, LogCharactersMax)]));
        }

        server.Log.Script((int)level, text.ToString());
        return 0;
    }

    private static int SetResp(LuaStack stack, ScriptHost host)
    {
        if (stack.Count != 1)
            return stack.Fail("redis.setresp() requires one argument."u8, isPlaced: false);
        double version = stack.Number(1);
        if (version is not (2 or 3))
            return stack.Fail("RESP version must be 2 or 3."u8, isPlaced: false);
        if (host.Running is { } running)
            running.WantsResp3 = version == 3;
        return 0;
    }

    // Effects are always kept and replicated: a script that asks for less gets more.
    private static int SetRepl(LuaStack stack)
    {
        if (stack.Count != 1)
            return stack.Fail("redis.set_repl() requires one argument."u8, isPlaced: false);
        return stack.Number(1) is >= 0 and <= 3
            ? 0
            : stack.Fail("Invalid replication flags. Please use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE."u8, isPlaced: false);
    }
}
