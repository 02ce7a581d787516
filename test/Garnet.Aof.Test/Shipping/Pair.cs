using Garnet.Aof.Shipping;
using Garnet.Aof.Test.Reading;
using Garnet.Aof.Test.Writing;
using NUnit.Framework;
using Tsavorite;

namespace Garnet.Aof.Test.Shipping;

/// <summary>A log that leads and one that follows it, each with its store, turned by hand.</summary>
internal sealed class Pair : IDisposable
{
    public const int Sublogs = 2;
    private readonly StoreSession _session;
    private readonly BatchApplier _applier;
    private readonly AppliedState _state = new();
    private readonly BatchIntake _intake;
    private readonly BatchFeed _feed;

    public Pair(SyncPolicy sync = SyncPolicy.EverySecond, long followerSegmentBytes = 1 << 20)
    {
        PrimaryLog = new AppendOnlyLog(new AofSettings { Sublogs = Sublogs, SegmentBytes = 1 << 20 }, PrimaryDisk, Clock, PrimaryBacklog);
        FollowerLog = new AppendOnlyLog(new AofSettings { Sublogs = Sublogs, SegmentBytes = followerSegmentBytes, Sync = sync }, FollowerDisk, Clock, FollowerBacklog);
        DataDirectory.OpenUnlocked(FollowerDisk, new DirectoryLayout(8, Sublogs)).RaiseTerm(1);
        PrimaryLog.Attach(Primary.Store);
        FollowerLog.Attach(Follower.Store);
        PrimaryBacklog.Keep();
        Start = new LogPosition(1, 0, [11, 22]);
        var start = new AofStart(1, 0, Start.Crcs, Primary.Store.Partitions, 77) { LastTerm = 1 };
        PrimaryLog.Open(start);
        FollowerLog.Open(start, follows: true);
        Primary.Store.SetLog(PrimaryLog);
        _session = Primary.Store.OpenSession();
        _applier = new BatchApplier(Follower.Store, Follower.Table, 0, _state, Start);
        _intake = new BatchIntake(Start);
        _feed = new BatchFeed(PrimaryBacklog, () => PrimaryLog, 0);
    }

    public ManualClock Clock { get; } = new();
    public LogPosition Start { get; }
    public TestStore Primary { get; } = new();
    public TestStore Follower { get; } = new();
    public MemoryDisk PrimaryDisk { get; } = new();
    public MemoryDisk FollowerDisk { get; } = new();
    public Backlog PrimaryBacklog { get; } = new();
    public Backlog FollowerBacklog { get; } = new();
    public AppendOnlyLog PrimaryLog { get; }
    public AppendOnlyLog FollowerLog { get; }

    /// <summary>Writes so many batches of a few changes each; now and then one on the whole store.</summary>
    public void Write(int batches, int seed = 1)
    {
        var random = new Random(seed);
        for (int i = 0; i < batches; i++)
        {
            if (random.Next(15) == 0) Primary.Store.Namespaces.Flush(random.Next(2), wait: true);
            else
            {
                for (int change = random.Next(1, 9); change > 0; change--)
                    Primary.Apply(random.Next(2), Workload.Keys[random.Next(Workload.Keys.Length)], $"{random.Next(1000)}");
            }
            PrimaryLog.GroupCommitter.Turn();
            foreach (Garnet.Aof.Writing.Sublog sublog in PrimaryLog.Sublogs) sublog.Turn();
        }
    }

    /// <summary>Ships all there is, part by part, and applies it.</summary>
    public void Ship()
    {
        while (_feed.TryNext() is { } batch)
        {
            for (int part = 0; part < batch.Parts; part++)
            {
                Assert.That(_intake.Take(batch.Part(part), out BatchBytes? whole), Is.Null);
                if (whole is null) continue;
                FollowerLog.Receive(whole);
                _applier.Add(whole);
            }
            _feed.Confirm(batch.Batch);
            batch.Release();
            foreach (Garnet.Aof.Writing.Sublog sublog in FollowerLog.Sublogs) sublog.Turn();
            while (_applier.Turn())
            {
            }
            Assert.That(_applier.Failure, Is.Null);
        }
        Assert.That(_state.Number, Is.EqualTo(PrimaryBacklog.End.Batch));
    }

    public void Dispose()
    {
        _feed.Dispose();
        _applier.Dispose();
        _session.Dispose();
        Primary.Store.SetLog(null);
        PrimaryLog.Dispose();
        FollowerLog.Dispose();
        Primary.Dispose();
        Follower.Dispose();
        PrimaryBacklog.Dispose();
        FollowerBacklog.Dispose();
        _state.Dispose();
    }
}
