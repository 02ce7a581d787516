using System.Text;
using Garnet.Common.Time;
using Garnet.Lua.Dialect;

namespace Garnet.Lua.Test;

/// <summary>A state without a server: scripts in, what they return out.</summary>
internal sealed class Sandbox : IDisposable
{
    private readonly LuaLibraries _libraries = new(64 << 20);
    private readonly LuaState _state;

    internal Sandbox(long memoryLimit = 64 << 20)
    {
        _state = new LuaState(memoryLimit, [.. _libraries.All(), .. Redis], SystemClock.Instance, () => IsToEnd);
    }

    /// <summary>What the state is told when it asks whether the script is to end.</summary>
    internal bool IsToEnd { get; set; }

    internal LuaState State => _state;

    /// <summary>Runs the text; a result as text, or the error behind a "!".</summary>
    internal string Run(string source)
    {
        int number = _state.Compile(Translator.Translate(Encoding.Latin1.GetBytes(source)), isLibrary: false, out string error);
        if (number == 0)
            return "!" + error;
        LuaStack stack = _state.Stack;
        _state.PushKept(number);
        stack.NewTable(0, 0);
        stack.NewTable(0, 0);
        _state.SetArguments();
        bool ended = _state.Call(0);
        string result = (ended ? "" : "!") + Shown(_state.Stack);
        _state.Clear();
        _state.Forget(number);
        _libraries.Reset();
        if (_state.IsStopped)
            _state.BeginAnew();
        return result;
    }

    public void Dispose() => _state.Dispose();

    // What the prelude puts into the table redis; nothing here calls it.
    private static IEnumerable<KeyValuePair<string, Func<LuaStack, int>>> Redis =>
        new[] { "call", "pcall", "version", "versionNumber", "error_reply", "status_reply", "log", "setresp", "acl_check_cmd", "set_repl", "breakpoint", "debug", "sha1hex", "register_function" }
            .Select(static name => new KeyValuePair<string, Func<LuaStack, int>>(name, static stack =>
            {
                stack.Push("0");
                return 1;
            }));

    private static string Shown(LuaStack stack)
    {
        switch (stack.TypeAt(-1))
        {
            case LuaType.String:
                return Encoding.Latin1.GetString(stack.Bytes(-1));
            case LuaType.Number:
                return stack.Number(-1).ToString("R", System.Globalization.CultureInfo.InvariantCulture);
            case LuaType.Boolean:
                return stack.Boolean(-1) ? "true" : "false";
            case LuaType.Table:
                stack.Field(-1, "err"u8);
                string text = Shown(stack);
                stack.Drop(1);
                return text;
            default:
                return "nil";
        }
    }
}
