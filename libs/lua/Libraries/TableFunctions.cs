using Function = System.Func<Garnet.Lua.LuaStack, int>;

namespace Garnet.Lua.Libraries;

/// <summary>
/// table.concat as most scripts call it: a table without a metatable, its items texts and numbers. Here because a number has to be
/// spelt as 5.1 spells it, and to look at each item in Lua costs several times as much. For anything else, errors too, it gives no
/// result, and the prelude goes on.
/// </summary>
internal static class TableFunctions
{
    private const int ItemsPerLook = 4096;

    /// <summary>All of them, by the names that the prelude knows.</summary>
    internal static IEnumerable<KeyValuePair<string, Function>> All(long bytesMax)
    {
        var to = new GrowingText(bytesMax);
        return [new("table_concat", stack => Concat(stack, to))];
    }

    private static int Concat(LuaStack stack, GrowingText to)
    {
        if (!IsPlain(stack) || !TryIndex(stack, 3, 1, out long first) || !TryIndex(stack, 4, stack.Length(1), out long last)
            || !stack.Reserve(1))
            return 0;
        ReadOnlySpan<byte> separator = stack.Count > 1 && stack.IsString(2) ? stack.Bytes(2) : default;
        bool isWhole = true;
        for (long i = first; isWhole && i <= last; i++)
        {
            if (i > first)
                to.Add(separator);
            isWhole = TryAdd(stack, stack.Item(1, i), to) && !to.IsTooLong && !(i % ItemsPerLook == 0 && LuaState.Look(stack));
            stack.Drop(1);
        }

        isWhole = isWhole && stack.TryPush(to.Written);
        to.Clear();
        return isWhole ? 1 : 0;
    }

    private static unsafe bool IsPlain(LuaStack stack)
    {
        int count = stack.Count;
        if (count == 0 || !stack.IsTable(1) || (count > 1 && stack.TypeAt(2) is not (LuaType.Nil or LuaType.String)))
            return false;
        bool hasMetatable = LuaApi.GetMetatable(stack.Thread, 1) != 0;
        stack.SetCount(count);
        return !hasMetatable;
    }

    private static bool TryIndex(LuaStack stack, int argument, long otherwise, out long index)
    {
        index = otherwise;
        if (stack.Count < argument || stack.TypeAt(argument) == LuaType.Nil)
            return true;
        double value = stack.IsNumber(argument) ? stack.Number(argument) : double.NaN;
        index = (long)value;
        return value is >= int.MinValue and <= int.MaxValue && value == index;
    }

    // A text, or a number but what is none: C spells its sign too.
    private static bool TryAdd(LuaStack stack, int type, GrowingText to)
    {
        double number = type == LuaType.Number ? stack.Number(-1) : 0;
        if (type is not (LuaType.String or LuaType.Number) || double.IsNaN(number))
            return false;
        if (type == LuaType.String)
            to.Add(stack.Bytes(-1));
        else
            to.Take(NumberSpelling.Write(number, JsonSettings.PrecisionMost, to.Room(NumberSpelling.BytesMax)));
        return true;
    }
}
