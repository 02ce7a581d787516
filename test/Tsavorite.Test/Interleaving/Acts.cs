namespace Tsavorite.Test.Interleaving;

/// <summary>What one thread does in an interleaving test; says what a client would see of it.</summary>
internal delegate string Act(Stage stage, int thread);

/// <summary>The acts by name: the engine's operations and its own movements.</summary>
internal static unsafe class Acts
{
    public static readonly IReadOnlyDictionary<string, Act> All = new Dictionary<string, Act>
    {
        ["Read"] = Read,
        ["PutInPlace"] = static (stage, thread) => Put(stage, thread, new SlowPut { Letter = (byte)'b', Bytes = 24 }),
        ["PutElsewhere"] = static (stage, thread) => Put(stage, thread, new SlowPut { Letter = (byte)'c', Bytes = 100 }),
        ["Append"] = static (stage, thread) => Put(stage, thread, new SlowPut { Letter = (byte)'d', Bytes = 8, Appends = true }),
        ["PutExpiring"] = static (stage, thread) =>
            Put(stage, thread, new SlowPut { Letter = (byte)'e', Bytes = 24, ExpireAtMs = Stage.NowMs + 500 }),
        ["SetExpiry"] = SetExpiry,
        ["Delete"] = Delete,
        ["Split"] = Split,
        ["Merge"] = Merge,
        ["Clean"] = Clean,
        ["Expire"] = Expire,
        ["Flush"] = static (stage, _) => stage.Store.Namespaces.Flush(0, wait: true) >= 0 ? "flushed" : "",
        ["Snapshot"] = SnapshotAct.Run,
        ["SwapUp"] = static (stage, thread) => ChangeBoth(stage, thread, Stage.Shared, Stage.Other),
        ["SwapDown"] = static (stage, thread) => ChangeBoth(stage, thread, Stage.Other, Stage.Shared),
        ["OpenStep"] = OpenStep,
        ["Move"] = Move,
        ["Count"] = static (stage, thread) => $"{stage.Session(thread).Count(stage.Namespace)}",
    };

    private static string Read(Stage stage, int thread)
    {
        SlowRead read = default;
        Outcome outcome = stage.Session(thread).Read(stage.Key(Stage.Shared, thread), ref read);
        return outcome == Outcome.Done ? read.Text : outcome.ToString();
    }

    private static string Put(Stage stage, int thread, SlowPut put)
    {
        Outcome outcome = stage.Session(thread).Modify(stage.Key(Stage.Shared, thread), ref put);
        return $"{outcome} {put.Result}";
    }

    private static string SetExpiry(Stage stage, int thread)
    {
        SetFields fields = new() { ExpireAtMs = Stage.NowMs + 500 };
        return stage.Session(thread).Modify(stage.Key(Stage.Shared, thread), ref fields).ToString();
    }

    private static string Delete(Stage stage, int thread)
    {
        DeleteKey delete = default;
        return stage.Session(thread).Modify(stage.Key(Stage.Shared, thread), ref delete).ToString();
    }

    private static string Split(Stage stage, int thread)
    {
        Partition* partition = stage.Partition;
        ulong hash = stage.Key(Stage.Shared, thread).Hash;
        Partition.Enter(partition);
        stage.Store.Core.Index.Split(partition, hash);
        Partition.Exit(partition);
        return "";
    }

    private static string Merge(Stage stage, int thread)
    {
        Partition* partition = stage.Partition;
        Partition.Enter(partition);
        for (uint entry = 0; entry < 1u << IndexSpace.DepthOf(partition); entry++)
            if (stage.Store.Core.Index.TryMerge(partition, entry)) break;
        Partition.Exit(partition);
        return "";
    }

    // Empties the segment that held the shared key when the stage was set, then fills the freed memory with other values.
    private static string Clean(Stage stage, int thread)
    {
        Partition* partition = stage.Partition;
        StoreCore core = stage.Store.Core;
        Partition.Enter(partition);
        bool drains = partition->Draining == 0 && core.Shape->Segments[stage.SharedSegment].State == SegmentState.Full
            && core.Shape->Segments[stage.SharedSegment].Partition == partition->Number;
        if (drains) core.Records.BeginDrain(partition, stage.SharedSegment);
        Partition.Exit(partition);
        if (drains) new Cleaner(core).Clean(partition, Stage.NowMs, 0);
        Cooperation.Quietly(() =>
        {
            for (int i = 0; i < 14; i++)
            {
                stage.Delete(stage.Session(thread), Stage.Near(9 + i % 3), thread);
                stage.Put(stage.Session(thread), Stage.Near(9 + i % 3), thread, 'z', 464);
            }
        });
        return "";
    }

    private static string Expire(Stage stage, int thread)
    {
        new Expirer(stage.Store.Core).Step(stage.Partition, Stage.NowMs + 1000);
        return "";
    }

    private static string ChangeBoth(Stage stage, int thread, string first, string second)
    {
        KeyRef one = stage.Key(first, thread);
        KeyRef two = stage.Key(second, thread + 4);
        StoreSession session = stage.Session(thread);
        session.Lock([one, two]);
        return Change(session, one, two, thread);
    }

    // What lies in one partition goes to the other: neither more nor fewer keys.
    private static string Move(Stage stage, int thread)
    {
        KeyRef from = stage.Key(Stage.Other, thread);
        KeyRef to = stage.Key(Stage.Near(2), thread + 4);
        StoreSession session = stage.Session(thread);
        session.Lock([from, to]);
        DeleteKey delete = default;
        Outcome outcome = session.Modify(from, ref delete);
        SlowPut put = new() { Letter = (byte)'m', Bytes = 24 };
        if (outcome == Outcome.Done)
            session.Modify(to, ref put);
        session.Unlock();
        return outcome.ToString();
    }

    // Comes to the partitions in an order that store.U6 forbids to others.
    private static string OpenStep(Stage stage, int thread)
    {
        KeyRef one = stage.Key(Stage.Shared, thread), two = stage.Key(Stage.Other, thread + 4);
        bool descends = Shape.PartitionOf(stage.Store.Core.Shape, one.Hash)->Number > Shape.PartitionOf(stage.Store.Core.Shape, two.Hash)->Number;
        StoreSession session = stage.Session(thread);
        session.LockOpen();
        return descends ? Change(session, one, two, thread) : Change(session, two, one, thread);
    }

    private static string Change(StoreSession session, in KeyRef one, in KeyRef two, int thread)
    {
        SlowPut put = new() { Letter = (byte)('p' + thread), Bytes = 8, Appends = true };
        session.Modify(one, ref put);
        session.Modify(two, ref put);
        session.Unlock();
        return $"{put.Result}";
    }
}
