using System.Runtime.InteropServices;

namespace Garnet.Types.Soundness;

/// <summary>Numbers of which each may stand once; one list per thread, its memory used again and again.</summary>
public static class NumberList
{
    [ThreadStatic]
    private static List<ulong>? _numbers;

    private static List<ulong> Numbers => _numbers ??= [];

    public static void Begin() => Numbers.Clear();

    public static void Add(ulong number) => Numbers.Add(number);

    /// <summary>True if no number was added twice.</summary>
    public static bool AreDistinct()
    {
        Span<ulong> sorted = CollectionsMarshal.AsSpan(Numbers);
        sorted.Sort();
        for (int i = 1; i < sorted.Length; i++)
        {
            if (sorted[i] == sorted[i - 1])
                return false;
        }

        return true;
    }
}
