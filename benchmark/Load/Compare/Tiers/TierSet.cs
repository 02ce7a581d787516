using Garnet.Load.Machine;

namespace Garnet.Load.Compare.Tiers;

/// <summary>The set <c>tiers</c>: what it costs to keep more than memory holds. Its parts are chosen by <c>--only</c>.</summary>
internal static class TierSet
{
    private static readonly (string Name, Action<CompareOptions, Report> Run)[] Parts =
    [
        ("hot", HotValues.Run),
        ("larger", LargerThanMemory.Run),
        ("cold", ColdReads.Run),
        ("sorted", LargeSortedSet.Run),
        ("promotion", PromotionOnHit.Run),
        ("trace", TraceReplay.Run),
        ("churn-kept", Churn.Kept),
        ("churn-fast", Churn.KeptFast),
        ("churn-scratch", Churn.Scratch),
        ("full", FullStalls.Run),
    ];

    public static void Run(CompareOptions options, Report report)
    {
        if (options.GeneratorCore >= 0) Cores.PinThread(options.GeneratorCore);
        foreach ((string name, Action<CompareOptions, Report> run) in Parts)
        {
            if (!name.Contains(options.Only, StringComparison.Ordinal)) continue;
            Console.Error.WriteLine($"part {name}");
            run(options, report);
            report.Line("");
        }
    }
}
