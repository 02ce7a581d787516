using System.Numerics;

namespace Garnet.Load.Traffic;

/// <summary>Log-linear histogram of nanoseconds: 64 steps per power of two, so a value is kept within 1.6 %.</summary>
internal sealed class Histogram
{
    private const int StepBits = 6, Steps = 1 << StepBits;

    private readonly long[] _counts = new long[(64 - StepBits) * Steps];

    public long Count { get; private set; }

    public long Max { get; private set; }

    public void Add(long nanoseconds, long times)
    {
        if (nanoseconds < 0) nanoseconds = 0;
        _counts[IndexOf(nanoseconds)] += times;
        Count += times;
        if (nanoseconds > Max) Max = nanoseconds;
    }

    /// <summary>The value that the given share (0..1) of the samples does not exceed.</summary>
    public long At(double share)
    {
        long wanted = (long)Math.Ceiling(share * Count), seen = 0;
        for (int i = 0; i < _counts.Length; i++)
        {
            seen += _counts[i];
            if (seen >= wanted && seen > 0) return Math.Min(Max, UpperBound(i));
        }
        return Max;
    }

    public void Clear()
    {
        Array.Clear(_counts);
        Count = Max = 0;
    }

    private static int IndexOf(long value)
    {
        if (value < Steps) return (int)value;
        int shift = BitOperations.Log2((ulong)value) - StepBits;
        return (shift + 1) * Steps + (int)((value >> shift) - Steps);
    }

    private static long UpperBound(int index)
    {
        if (index < Steps) return index;
        int shift = index / Steps - 1;
        return ((index % Steps + Steps + 1L) << shift) - 1;
    }
}
