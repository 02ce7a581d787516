using System.Runtime.CompilerServices;

namespace Tsavorite;

/// <summary>
/// A lock of one 32-bit word: a compare-exchange in, a release store out. Held for microseconds at most; on small
/// machines a waiter yields almost at once, because the holder is probably not running.
/// </summary>
internal static class SpinLatch
{
    private static readonly int SpinsMax = Environment.ProcessorCount < 4 ? 4 : 40;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Enter(ref int gate)
    {
        if (Interlocked.CompareExchange(ref gate, 1, 0) != 0)
            EnterSlow(ref gate);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Exit(ref int gate) => Volatile.Write(ref gate, 0);

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void EnterSlow(ref int gate)
    {
        while (true)
        {
            for (int spins = 0; spins < SpinsMax; spins++)
            {
                if (Volatile.Read(ref gate) == 0 && Interlocked.CompareExchange(ref gate, 1, 0) == 0)
                    return;
                Thread.SpinWait(10);
            }
            Thread.Yield();
        }
    }
}
