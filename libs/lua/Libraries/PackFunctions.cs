using Function = System.Func<Garnet.Lua.LuaStack, int>;

namespace Garnet.Lua.Libraries;

/// <summary>The functions of cmsgpack.</summary>
internal static class PackFunctions
{
    /// <summary>All of them, by the names that the prelude knows.</summary>
    internal static IEnumerable<KeyValuePair<string, Function>> All(long bytesMax) =>
    [
        new("cmsgpack_pack", new PackWriter(bytesMax).Write),
        new("cmsgpack_unpack", static stack => Unpack(stack, 0, 0, tellsOffset: false)),
        new("cmsgpack_unpack_one", static stack => Unpack(stack, 1, Whole(stack, 2), tellsOffset: true)),
        new("cmsgpack_unpack_limit", static stack => Unpack(stack, Whole(stack, 2), Whole(stack, 3), tellsOffset: true)),
    ];

    private static int Whole(LuaStack stack, int index) =>
        index <= stack.Count && stack.TryNumber(index, out double value) ? (int)Math.Clamp(value, int.MinValue, int.MaxValue) : 0;

    private static int Unpack(LuaStack stack, int limit, int offset, bool tellsOffset) => stack.Count > 0 && stack.IsString(1)
        ? new PackReader(stack).Read(limit, offset, tellsOffset)
        : stack.Fail("bad argument #1 to 'unpack' (string expected)"u8);
}
