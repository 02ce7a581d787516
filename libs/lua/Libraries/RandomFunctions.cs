using Function = System.Func<Garnet.Lua.LuaStack, int>;

namespace Garnet.Lua.Libraries;

/// <summary>math.random: 48 bits, computed as drand48 is, from a seed that is the same for every state, as redis has it.</summary>
internal sealed class RandomFunctions
{
    private const ulong Multiplier = 0x5DEECE66D, Increment = 0xB, Mask = (1UL << 48) - 1, LowSeed = 0x330E, FirstState = 0x1234ABCD330E;

    private ulong _state = FirstState;

    /// <summary>All of them, by the names that the prelude knows.</summary>
    internal IEnumerable<KeyValuePair<string, Function>> All() => [new("random", Next), new("randomseed", Seed)];

    // math.random([m [, n]])
    private int Next(LuaStack stack)
    {
        _state = ((_state * Multiplier) + Increment) & Mask;
        double random = (_state >> 17) % 0x7FFFFFFF / (double)0x7FFFFFFF;
        int count = stack.Count;
        if (count == 0)
        {
            stack.Push(random);
            return 1;
        }

        if (!stack.TryNumber(1, out double first) || (count > 1 && !stack.TryNumber(2, out _)))
            return stack.Fail("bad argument to 'random' (number expected)"u8);
        int low = count > 1 ? Int(first) : 1;
        int high = count > 1 ? Int(stack.Number(2)) : Int(first);
        if (count > 2)
            return stack.Fail("wrong number of arguments"u8);
        if (low > high)
            return stack.Fail(count > 1
                ? "bad argument #2 to 'random' (interval is empty)"u8
                : "bad argument #1 to 'random' (interval is empty)"u8);
        stack.Push(Math.Floor(random * unchecked(high - low + 1)) + low);
        return 1;
    }

    // As C makes an int of a number.
    private static int Int(double value) => unchecked((int)LuaStack.Whole(value));

    // math.randomseed(x)
    private int Seed(LuaStack stack)
    {
        if (!stack.TryNumber(1, out double seed))
            return stack.Fail("bad argument #1 to 'randomseed' (number expected)"u8);
        _state = ((ulong)(uint)(int)LuaStack.Whole(seed) << 16) | LowSeed;
        return 0;
    }
}
