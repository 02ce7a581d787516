using System.Runtime.CompilerServices;

namespace Tsavorite;

/// <summary>
/// Lets a test process make the engine yield at named points or plant a fault in it, to prove that a test sees it.
/// Both are read once, before first use, and are off outside test processes: the compiler folds them away.
/// </summary>
internal static class StoreTestHooks
{
    public const string PlantedName = "Tsavorite.Planted", InterleavesName = "Tsavorite.Interleaves";

    /// <summary>True if yield points call <see cref="OnYield"/>.</summary>
    public static readonly bool Interleaves = AppContext.TryGetSwitch(InterleavesName, out bool on) && on;

    /// <summary>What happens at a yield point; null = nothing.</summary>
    public static Action<YieldPoint>? OnYield;

    private static readonly PlantedFault s_planted = AppContext.GetData(PlantedName) is string name
        ? Enum.Parse<PlantedFault>(name)
        : PlantedFault.None;

    /// <summary>The process runs with this fault.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool Has(PlantedFault fault) => s_planted == fault;

    /// <summary>A place where a test may let another thread run.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void Yield(YieldPoint point)
    {
        if (Interleaves)
            OnYield?.Invoke(point);
    }
}
