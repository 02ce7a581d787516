namespace Tsavorite.Test.Snapshots;

/// <summary>A sink that keeps all blocks, with the slack that loading asks for.</summary>
internal sealed class BlockList : ISnapshotSink
{
    public List<byte[]> Blocks { get; } = [];
    public long Records { get; private set; }

    public void Write(ReadOnlySpan<byte> block, int records)
    {
        byte[] copy = new byte[block.Length + SnapshotLoader.SlackBytes];
        block.CopyTo(copy);
        Blocks.Add(copy);
        Records += records;
    }

    public LoadOutcome Load(Store store)
    {
        using SnapshotLoader loader = new(store);
        foreach (byte[] block in Blocks)
        {
            LoadOutcome outcome = loader.Load(block.AsSpan(0, block.Length - SnapshotLoader.SlackBytes));
            if (outcome != LoadOutcome.Done) return outcome;
        }
        return LoadOutcome.Done;
    }

    /// <summary>All of a store in one go.</summary>
    public static BlockList Of(Store store, SnapshotOptions? options = null)
    {
        BlockList list = new();
        using StoreSnapshot snapshot = store.BeginSnapshot(options);
        while (snapshot.Step(list)) { }
        if (snapshot.State != SnapshotState.Whole) throw new InvalidOperationException($"the snapshot is {snapshot.State}");
        return list;
    }
}
