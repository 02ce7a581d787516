using System.Runtime.InteropServices;

namespace Garnet.Server.Types.Soundness;

/// <summary>Numbers of which each may stand once; one list per thread, its memory used again and again.</summary>
internal static class NumberList
{
    [ThreadStatic]
    private static List<ulong>? _numbers;

    private static List<ulong> Numbers => _numbers ??= [];

    internal static void Begin() => Numbers.Clear();

    internal static void Add(ulong number) => Numbers.Add(number);

    /// <summary>True if no number was added twice.</summary>
    internal static bool AreDistinct()
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
