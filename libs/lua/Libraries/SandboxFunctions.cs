using Garnet.Lua.Dialect;
using Function = System.Func<Garnet.Lua.LuaStack, int>;

namespace Garnet.Lua.Libraries;

/// <summary>What the prelude itself needs: texts translated before they are compiled, coroutines that are looked at, cjson's null.</summary>
internal static class SandboxFunctions
{
    private const int SourceBytesMax = 1 << 20; // of a text that a script compiles: that takes some milliseconds

    /// <summary>All of them, by the names that the prelude knows.</summary>
    internal static IEnumerable<KeyValuePair<string, Function>> All() =>
        [new("translate", Translate), new("enter", Enter), new("back", Back), new("null", static stack => PushNull(stack))];

    // Before a coroutine goes on. Behind it comes "back", with what it gave: a look at the clock is due then.
    private static unsafe int Enter(LuaStack stack)
    {
        nint thread = LuaApi.ToThread(stack.Thread, 1);
        if (thread != 0)
            LuaState.Enter(thread);
        return 0;
    }

    private static int Back(LuaStack stack)
    {
        LuaState.Look(stack);
        return stack.Count;
    }

    private static unsafe int PushNull(LuaStack stack)
    {
        LuaApi.PushPointer(stack.Thread, 0);
        return 1;
    }

    private static int Translate(LuaStack stack)
    {
        if (stack.Bytes(1).Length > SourceBytesMax)
            return stack.Fail("chunk has too many bytes"u8, isPlaced: false);
        (byte[] source, string wrong) = Translator.Translate(stack.Bytes(1));
        stack.Push(source);
        stack.Push(wrong);
        return 2;
    }
}
