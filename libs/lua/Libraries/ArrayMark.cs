
namespace Garnet.Lua.Libraries;

/// <summary>
/// What tells a table that was a JSON array from one that was an object while both are empty: a metatable of its own, one per state. It is
/// locked, since all scripts share it.
/// </summary>
internal static unsafe class ArrayMark
{
    private static ReadOnlySpan<byte> Key => "cjson array"u8;

    /// <summary>Marks the table on top.</summary>
    internal static void Put(LuaStack stack)
    {
        if (Push(stack) != LuaType.Table)
        {
            stack.Drop(1);
            Make(stack);
        }

        _ = LuaApi.SetMetatable(stack.Thread, -2);
    }

    /// <summary>True if the table on top is marked.</summary>
    internal static bool Is(LuaStack stack)
    {
        if (LuaApi.GetMetatable(stack.Thread, -1) == 0)
            return false;
        bool isMark = Push(stack) == LuaType.Table && LuaApi.RawEqual(stack.Thread, -1, -2) != 0;
        stack.Drop(2);
        return isMark;
    }

    private static int Push(LuaStack stack)
    {
        stack.Push(Key);
        return LuaApi.RawGet(stack.Thread, LuaApi.RegistryIndex);
    }

    private static void Make(LuaStack stack)
    {
        stack.NewTable(0, 1);
        stack.Push("__metatable"u8);
        stack.Push(false);
        stack.Set(-3);
        stack.Push(Key);
        stack.PushCopy(-2);
        LuaApi.RawSet(stack.Thread, LuaApi.RegistryIndex);
    }
}
