using NUnit.Framework;
using Tsavorite.Test.Snapshots;

namespace Tsavorite.Test.Tiers;

/// <summary>A sink that keeps what it is given, records as well as names of others, and loads them as a file's reader does.</summary>
internal sealed class NamingList : INamingSink
{
    public List<byte[]> Records { get; } = [];
    public List<byte[]> References { get; } = [];
    public List<byte[]> Segments { get; } = [];
    public long RecordCount { get; private set; }
    public long ReferenceCount { get; private set; }

    public void Write(ReadOnlySpan<byte> block, int records)
    {
        Records.Add([.. block, .. new byte[SnapshotLoader.SlackBytes]]);
        RecordCount += records;
    }

    public void WriteReferences(ReadOnlySpan<byte> block, int references)
    {
        References.Add(block.ToArray());
        ReferenceCount += references;
    }

    public void WriteSegments(ReadOnlySpan<byte> block, int segments) => Segments.Add(block.ToArray());

    public LoadOutcome Load(Store store, string file = "one", BlockOrigin origin = BlockOrigin.Own, ColdLosses? losses = null)
    {
        if (Open(store, file, isLoaded: true, origin, losses) is not { } named) return LoadOutcome.Damaged;
        using SnapshotLoader loader = new(store);
        LoadOutcome outcome = LoadOutcome.Done;
        foreach (byte[] block in References.TakeWhile(_ => outcome == LoadOutcome.Done)) outcome = named.Load(block, origin, loader);
        foreach (byte[] block in Records.TakeWhile(_ => outcome == LoadOutcome.Done)) outcome = loader.Load(block.AsSpan(0, block.Length - SnapshotLoader.SlackBytes), origin);
        return outcome == LoadOutcome.Done && named.End() is not null ? LoadOutcome.Damaged : outcome;
    }

    /// <summary>Where the index has another shape, and where there is no tier but its medium, all is read and put in record by record.</summary>
    public void ExpectElsewhere(StoreSettings settings, SimulatedMedium medium, SortedDictionary<string, string> then)
    {
        using (Store finer = new(settings with { IndexBuckets = 8 }))
        {
            Assert.That(Load(finer), Is.EqualTo(LoadOutcome.Done), "an index of another shape");
            Assert.That(Content.Of(finer), Is.EqualTo(then));
            Assert.That(StoreCheck.Run(finer), Is.Empty);
        }
        using Store reader = new(Bench.Tiny() with { Named = medium });
        Assert.That(Load(reader), Is.EqualTo(LoadOutcome.Done), "a store without a tier");
        Assert.That(Content.Of(reader), Is.EqualTo(then));
    }

    /// <summary>The table is read, and its segments are the store's; null if it is damaged.</summary>
    public NamedSegments? Open(Store store, string file, bool isLoaded, BlockOrigin origin = BlockOrigin.Own, ColdLosses? losses = null)
    {
        NamedSegments named = new(store) { Losses = losses };
        foreach (byte[] block in Segments)
        {
            if (!named.Add(block, origin)) return null;
        }
        return named.Open(file, isLoaded) ? named : null;
    }

    /// <summary>A snapshot taken in one go, and kept under the file's name.</summary>
    public static NamingList Of(Store store, string file = "one", Action<int>? between = null)
    {
        NamingList list = new();
        using StoreSnapshot snapshot = store.BeginSnapshot(new SnapshotOptions { NamesSegments = true, BucketsPerHold = 1, HoldsPerStep = 1 });
        for (int step = 0; snapshot.Step(list); step++) between?.Invoke(step);
        if (snapshot.State != SnapshotState.Whole || !store.Names!.TryKeep(file, snapshot)) throw new InvalidOperationException($"the snapshot is {snapshot.State}");
        return list;
    }
}
