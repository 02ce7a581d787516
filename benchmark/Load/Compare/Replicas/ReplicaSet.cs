using Garnet.Load.Traffic;

namespace Garnet.Load.Compare.Replicas;

/// <summary>The set <c>replica</c>: what reading from a replica costs, how far behind it is, what copies and failovers take.</summary>
internal static class ReplicaSet
{
    private static readonly (string Name, Action<CompareOptions, List<Peer>, Report> Run)[] Parts =
    [
        ("reads", ReplicaReads.Run),
        ("tails", ReplicaTails.Run),
        ("visible", Visibility.Run),
        ("replay", ReplayRates.Run),
        ("transactions", ReplayRates.RunTransactions),
        ("failover", Promotions.Run),
        ("copy", FullCopies.Run),
        ("sketch", SketchSizes.Run),
    ];

    /// <summary>All parts, or those that <c>--only</c> names.</summary>
    public static void Run(CompareOptions options, List<Peer> peers, Report report)
    {
        bool any = false;
        foreach ((string name, Action<CompareOptions, List<Peer>, Report> run) in Parts)
        {
            if (!name.Contains(options.Only, StringComparison.OrdinalIgnoreCase)) continue;
            run(options, peers, report);
            any = true;
        }
        if (!any) throw new ArgumentException($"no part of the set is named {options.Only}; there are {string.Join(", ", Parts.Select(static part => part.Name))}");
    }

    public static Measured Load(RunningPeer server, Workload workload, GeneratorSettings settings)
    {
        using Generator generator = new(workload, settings);
        Measured measured = generator.Run();
        if (measured.Errors > 0) throw new InvalidDataException($"{server.Peer.Name}: {measured.FirstError}");
        return measured;
    }
}
