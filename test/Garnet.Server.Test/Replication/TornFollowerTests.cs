using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Shipping;
using Garnet.Replication;
using Garnet.Server.Replication;

namespace Garnet.Server.Test.Replication;

/// <summary>Rule replication.F5: what cannot be given to log and applier both is not passed over by the next connection.</summary>
internal sealed class TornFollowerTests
{
    [Test]
    public void A_batch_for_which_memory_lacks_is_followed_by_a_full_copy()
    {
        using var state = new AppliedState();
        using var log = new NoLog();
        LogPosition start = new(1, 4, [7]);
        log.Backlog.Continue(start);
        using var follower = new Follower(null!, log, null!, state, 0)
        {
            TermBegan = static _ => throw new InsufficientMemoryException("no memory"),
        };
        Assert.That(follower.Position.Is(start));
        Assert.That(() => follower.Part(Batch(start)), Throws.TypeOf<InsufficientMemoryException>());
        follower.Disconnect();
        Assert.That(follower.IsTorn);
        Assert.That(follower.Position, Is.EqualTo(LogPosition.None), "it asks for everything");
    }

    // Empty, and the first of the next term.
    private static byte[] Batch(LogPosition behind)
    {
        byte[] bytes = new byte[BatchHeader.Bytes];
        new BatchHeader
        {
            Kind = BatchKind.Data, Term = behind.Term + 1, Batch = behind.Batch + 1, SealedUnixUs = 1, Part = 0, Parts = 1, Lanes = 0, BodyBytes = 0, Entries = 0,
            PreviousCrc = behind.Crcs[0], BodyCrc = Crc32C.Of([]), DurableBatch = 0,
        }.Write(bytes);
        return bytes;
    }

    private sealed class NoLog : IFollowedLog, IDisposable
    {
        public Backlog Backlog { get; } = new();
        public AppendOnlyLog? Current => null;
        public AppendOnlyLog? OnDisk => null;
        public bool IsKeptOnDisk => false;
        public IDisk? Disk => null;

        public void Follow(AofStart start) => throw new NotSupportedException();

        public LogPosition Stop() => Backlog.End;

        public bool CanRewind(ulong batch) => false;

        public bool TryRewind(LogPosition to) => false;

        public void Replace(string snapshot, LogPosition at, IReadOnlyList<TermStart> terms) => throw new NotSupportedException();

        public void Dispose() => Backlog.Dispose();
    }
}
