using System.Runtime.InteropServices;

namespace Garnet.Types.Soundness;

/// <summary>Numbers of which each may stand once; one list per thread, its memory used again and again as long as it is not much.</summary>
public static class NumberList
{
    private const int KeptMax = 1 << 16; // half a megabyte for each thread that judges

    [ThreadStatic]
    private static List<ulong>? _numbers;

    private static List<ulong> Numbers => _numbers ??= [];

    public static void Begin()
    {
        if (_numbers is { Capacity: > KeptMax })
            _numbers = null;
        _numbers?.Clear();
    }

    public static void Add(ulong number) => Numbers.Add(number);

    /// <summary>True if no number was added twice.</summary>
    public static bool AreDistinct()
    {
        Span<ulong> sorted = CollectionsMarshal.AsSpan(Numbers);
        sorted.Sort();
        bool areDistinct = AreDistinct(sorted);
        Begin();
        return areDistinct;
    }

    private static bool AreDistinct(ReadOnlySpan<ulong> sorted)
    {
        for (int i = 1; i < sorted.Length; i++)
        {
            if (sorted[i] == sorted[i - 1])
                return false;
        }

        return true;
    }
}
