namespace Tsavorite;

/// <summary>Switches that let a test prove it can see a fault. Read-only and false outside test runs that ask for one.</summary>
internal static class StoreTestHooks
{
    /// <summary>Leaves out the re-check of the sequences: the stress test must then find torn reads.</summary>
    public static readonly bool SkipRecheck = AppContext.TryGetSwitch("Tsavorite.SkipRecheck", out bool on) && on;
}
