using Garnet.Aof.Shipping;
using Garnet.Aof.Test.Writing;
using Tsavorite;

namespace Garnet.Replication.Test;

/// <summary>A full copy that waits for its replica, when its server stops.</summary>
public sealed class ResumableCopyTests
{
    [Test]
    public void A_copy_that_nobody_waits_for_yet_is_gone_when_the_shelf_is_closed()
    {
        using var store = new Store(new StoreSettings { MemoryLimitBytes = 4 << 20, Partitions = 2, HugePages = false, BackgroundMovers = false });
        using var backlog = new Backlog();
        var shelf = new ResumableCopy(new ManualClock());
        var copy = new FullCopy(store.BeginSnapshot(new SnapshotOptions()), batch => new BatchFeed(backlog, static () => null, batch));
        shelf.Put("run", copy, shelf.Role);
        shelf.Close();
        Assert.That(() => store.BeginSnapshot(new SnapshotOptions()).Dispose(), Throws.Nothing, "the store can be closed now: its snapshot has ended");
        shelf.Await(copy, int.MaxValue);
    }

    [Test]
    public void A_replica_that_streams_costs_nothing_of_its_copy_any_more()
    {
        using var store = new Store(new StoreSettings { MemoryLimitBytes = 4 << 20, Partitions = 2, HugePages = false, BackgroundMovers = false });
        using var backlog = new Backlog();
        using var copy = new FullCopy(store.BeginSnapshot(new SnapshotOptions()), batch => new BatchFeed(backlog, static () => null, batch));
        copy.Block(new byte[16], new byte[1000]);
        copy.Block(new byte[16], new byte[3000]);
        Assert.That(copy.KeptBytes, Is.EqualTo(4032));
        copy.End();
        Assert.That(copy.KeptBytes, Is.Zero);
        Assert.That(() => store.BeginSnapshot(new SnapshotOptions()).Dispose(), Throws.Nothing);
    }
}
