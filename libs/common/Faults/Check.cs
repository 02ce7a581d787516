using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Garnet.Common.Faults;

/// <summary>
/// Guards against mistakes of our own. A failed check stops the process at once with the invariant's name: a store
/// that has broken a rule of its own must not go on writing.
/// </summary>
public static class Check
{
    /// <summary>Stops the process unless the condition holds. <paramref name="invariant"/> begins with its number.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void That([DoesNotReturnIf(false)] bool condition, string invariant)
    {
        if (!condition)
            Fail(invariant);
    }

    [DoesNotReturn, MethodImpl(MethodImplOptions.NoInlining)]
    private static void Fail(string invariant) => Environment.FailFast("broken invariant: " + invariant);
}
