using System.Globalization;
using Garnet.Aof.Shipping;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;
using Garnet.Replication;
using Garnet.Server.Replication;
using Garnet.Server.Test.Replication.Simulation;

namespace Garnet.Server.Test.Replication;

/// <summary>What is kept for a replica whose connection broke: where no file has the log, it comes back to it or gets everything anew.</summary>
public sealed class LeftPlaceTests
{
    private const int WaitMs = 30_000, Writes = 300, ValueBytes = 1000, TimeoutSeconds = 60;
    private const long LittleMemory = Writes * ValueBytes / 4;

    private static readonly HelloFacts Replica = new("a", "host", 1, Garnet.Aof.LogPosition.None, Garnet.Aof.LogPosition.None);

    [Test]
    public void A_replica_goes_on_where_it_was_however_much_was_written_meanwhile()
    {
        using Parted pair = new(long.MaxValue);
        pair.Write();
        Assert.That(pair.Backlog.First, Is.LessThanOrEqualTo(pair.Left), "kept though nobody is there");
        Assert.That(pair.FullCopiesAfterReturn(), Is.EqualTo(1), "only the first time");
        pair.Write();
        Assert.That(() => pair.Backlog.First, Is.GreaterThan(pair.Left).After(WaitMs, 5), "not kept for a replica that is back");
    }

    [Test]
    public void A_replica_that_does_not_come_back_for_repl_timeout_finds_its_place_given_up()
    {
        using Parted pair = new(long.MaxValue);
        pair.Clock.Advance((TimeoutSeconds * 1_000_000L) - 1);
        pair.Write();
        Assert.That(pair.Backlog.First, Is.LessThanOrEqualTo(pair.Left));
        pair.Clock.Advance(1);
        pair.Write();
        Assert.That(pair.Backlog.First, Is.GreaterThan(pair.Left + Writes));
        Assert.That(pair.FullCopiesAfterReturn(), Is.EqualTo(2));
    }

    [Test]
    public void Never_more_is_kept_for_one_who_is_away_than_for_one_who_is_there()
    {
        using Parted pair = new(LittleMemory);
        pair.Write();
        Assert.That(pair.Backlog.First, Is.GreaterThan(pair.Left));
        Assert.That(pair.Backlog.Bytes, Is.LessThan(LittleMemory));
        Assert.That(pair.FullCopiesAfterReturn(), Is.EqualTo(2));
    }

    [Test]
    public void What_is_sent_and_not_acknowledged_is_kept()
    {
        var clock = new ManualClock();
        var random = new Random(1);
        using Node primary = new(0, null, clock, random), replica = new(1, null, clock, random);
        primary.Backlog.BytesMax = 1;
        primary.Lead();
        replica.BecomeFollower();
        using var link = new Link(primary, replica, clock, static _ => { });
        Turn(primary, link, delivers: true);
        primary.Write([1], 1);
        Turn(primary, link, delivers: true);
        primary.Write([1], 2);
        Turn(primary, link, delivers: false);
        ulong sent = primary.Backlog.End.Batch;
        Assert.That(link.UnderWay, Is.GreaterThan(0));
        primary.Write([1], 3);
        Turn(primary, link, delivers: false);
        Assert.That(primary.Backlog.First, Is.LessThanOrEqualTo(sent));
        Turn(primary, link, delivers: true);
        primary.Write([1], 4);
        Turn(primary, link, delivers: true);
        Assert.That(primary.Backlog.First, Is.GreaterThan(sent));
        Assert.That(replica.Follower!.Turn());
    }

    [Test]
    public void Whoever_gives_a_place_up_says_so_once()
    {
        var clock = new ManualClock();
        using var backlog = new Backlog();
        var told = new List<string>();
        var places = new LeftPlaces(clock, (replica, why) => told.Add($"{replica.RunId}: {why}"));
        places.Keep(Replica, 7, backlog.Pin(7));
        places.Keep(Replica with { RunId = "b" }, 9, backlog.Pin(9));
        places.Keep(Replica with { RunId = "c" }, 5, null);
        Assert.That(places.NeededFrom, Is.EqualTo(5));
        places.Forget("c");
        places.Review(TimeoutSeconds, first: 7);
        Assert.That((told.Count, places.NeededFrom), Is.EqualTo((0, 7ul)));
        places.Review(TimeoutSeconds, first: 8);
        Assert.That((told, places.NeededFrom), Is.EqualTo((new List<string> { "a: what it has not got exceeds the memory for it (repl-backlog-size, client-output-buffer-limit)" }, 9ul)));
        clock.Advance(TimeoutSeconds * 1_000_000L);
        places.Review(TimeoutSeconds, first: 8);
        places.Review(TimeoutSeconds, first: 8);
        Assert.That((told[1..], places.NeededFrom), Is.EqualTo((new List<string> { "b: it has not come back for repl-timeout" }, ulong.MaxValue)));
    }

    [Test]
    public void Replicas_that_come_under_ever_other_names_do_not_have_ever_more_places()
    {
        using var backlog = new Backlog();
        var told = new List<string>();
        var places = new LeftPlaces(new ManualClock(), (replica, _) => told.Add(replica.RunId));
        for (int i = 0; i < 100; i++) places.Keep(Replica with { RunId = $"{i}" }, (ulong)i, backlog.Pin((ulong)i));
        Assert.That(told, Is.EqualTo(Enumerable.Range(0, 36).Select(static i => $"{i}")), "those who left first");
        Assert.That(places.NeededFrom, Is.EqualTo(36));
    }

    private static void Turn(Node primary, Link link, bool delivers)
    {
        for (int turner = 0; turner < primary.Current?.Turners; turner++) primary.Current.Turn(turner);
        for (int sends = 0; sends < 8; sends++) link.Send();
        while (delivers && link.UnderWay > 0) link.Deliver(link.UnderWay);
        if (delivers) link.Acknowledge();
    }

    /// <summary>A primary in memory that keeps as little as it may, and its replica, which cannot come back until it is let.</summary>
    private sealed class Parted : IDisposable
    {
        private readonly EmbeddedServer _primary, _replica;
        private readonly CuttingProxy _proxy;
        private readonly ManualResetEventSlim _lets = new();
        private volatile bool _isParted;

        public Parted(long memory)
        {
            _primary = new EmbeddedServer(adjust: static settings => settings.Replication.BacklogBytes = 1, clock: Clock);
            Backlog.PinnedBytesMax = long.MaxValue;
            // By the test's own word and not by their number: a replica of another test may have knocked here, whose primary had this port before.
            _proxy = new CuttingProxy(_primary.Server.Port, _ =>
            {
                if (_isParted) _lets.Await();
                return long.MaxValue;
            });
            _replica = ReplicaGroup.ReplicaOf(_proxy.Port);
            Write();
            ReplicaGroup.AssertSame(_primary, _replica);
            Assert.That(() => Links.All[0].Link.Ack.Received, Is.EqualTo(Backlog.End.Batch).After(WaitMs, 5));
            Left = Backlog.End.Batch + 1;
            Backlog.PinnedBytesMax = memory;
            _isParted = true;
            Links.Break(_replica.Server.Replication.RunId, "a test breaks it");
            Assert.That(() => Links.All, Is.Empty.After(WaitMs, 5));
        }

        public ManualClock Clock { get; } = new();
        public Backlog Backlog => _primary.Server.Replication.Backlog;

        /// <summary>The first batch that the replica has not got.</summary>
        public ulong Left { get; }

        private ReplicaLinks Links => _primary.Server.Replication.Links;

        /// <summary>Each is a batch.</summary>
        public void Write()
        {
            using var client = new TestClient(_primary.Server.Port);
            for (int i = 0; i < Writes; i++) client.Call("SET", $"k{i % 7}", i.ToString(CultureInfo.InvariantCulture).PadLeft(ValueBytes, 'v'));
        }

        public long FullCopiesAfterReturn()
        {
            Backlog.PinnedBytesMax = long.MaxValue;
            _lets.Set();
            ReplicaGroup.AssertSame(_primary, _replica);
            return Links.Full;
        }

        public void Dispose()
        {
            _lets.Set();
            _replica.Dispose();
            _proxy.Dispose();
            _primary.Dispose();
            _lets.Dispose();
        }
    }
}
