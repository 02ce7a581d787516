using Garnet.Aof.Recovery;
using Garnet.Aof.Shipping;
using Garnet.Aof.Test.Reading;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;
using NUnit.Framework;
using Tsavorite;

namespace Garnet.Aof.Test.Shipping;

/// <summary>log.A2, the applier's, looked at from inside a change: the key is announced before, and the number comes after everything.</summary>
public sealed unsafe class AnnouncementTests
{
    [Test]
    public void A_key_is_announced_before_it_changes_and_the_number_is_published_after_the_last_change()
    {
        var clock = new ManualClock();
        using Backlog backlog = new();
        using TestStore leader = new(), follower = new();
        using var log = new AppendOnlyLog(new AofSettings(), new MemoryDisk(), clock, backlog);
        using AppliedState state = new();
        var start = new LogPosition(1, 0, [5]);
        backlog.Keep();
        log.Attach(leader.Store);
        log.Open(new AofStart(1, 0, start.Crcs, leader.Store.Partitions, 77) { LastTerm = 1 });
        leader.Store.SetLog(log);
        string[] keys = [.. Workload.Keys.Take(6)];
        foreach (string key in keys) leader.Apply(0, key, key);
        log.Turn(0);
        log.Turn(1);
        leader.Store.SetLog(null);

        var table = new ReplayTable();
        table.Add<Watched>();
        using var applier = new BatchApplier(follower.Store, table, 0, state, start);
        using var feed = new BatchFeed(backlog, static () => null, 0);
        applier.Add(feed.TryNext()!);
        ReadPoint before = state.Point;
        uint stamp = state.Stamp;
        Assert.That(AppliedState.IsStill(stamp));
        int seen = 0;
        Watched.Of = follower.Store;
        Watched.Look = key =>
        {
            seen++;
            Assert.That(state.Number, Is.Zero, "nothing is published before all is applied");
            Assert.That(state.Sees(key, before), Is.False, "announced before it changes");
            Assert.That(state.TryHold(), Is.False, "nobody holds the middle of a batch");
            Assert.That(AppliedState.IsStill(state.Stamp), Is.False, "and nobody reads it unasked");
            Assert.That(state.Stamp, Is.Not.EqualTo(stamp));
        };
        Assert.That(applier.Turn(), applier.Failure);
        Watched.Look = null;
        Assert.That(seen, Is.EqualTo(keys.Length));
        Assert.That(state.Number, Is.EqualTo(1));
        Assert.That(AppliedState.IsStill(state.Stamp) && state.Stamp != stamp, "another state, to be read unasked again");
        Assert.That(state.TryHold());
        state.Release();
    }

    [Test]
    public void Whoever_holds_the_state_keeps_the_next_batch_waiting_and_it_comes_first_then()
    {
        using AppliedState state = new();
        state.Begin(1, 7, 0);
        Assert.That(state.TryHold() && state.TryHold(), "several may");
        var changer = new Thread(() =>
        {
            state.BeginChange();
            state.Publish(1, 8, 0);
            state.EndChange();
        });
        changer.Start();
        int holders = 2;
        Assert.That(SpinWait.SpinUntil(() => !state.TryHold() || ++holders < 0, Bench.PatienceMs), Is.True); // until the batch waits: it comes first
        Assert.That(state.Number, Is.EqualTo(7));
        for (; holders > 0; holders--) state.Release();
        changer.Await();
        Assert.That(state.Number, Is.EqualTo(8));
    }

    [Test]
    public void A_store_filled_anew_is_not_what_a_reader_began_with()
    {
        using AppliedState state = new();
        state.Begin(1, 7, 0);
        ReadPoint before = state.Point;
        Assert.That(state.Sees(123, before));
        uint stamp = state.Stamp;
        state.Close();
        Assert.That(AppliedState.IsStill(state.Stamp), Is.False);
        Assert.That(state.Sees(123, before), Is.False);
        Assert.That(state.Sees(123, state.Point), Is.False);
        state.Begin(1, 7, 0);
        Assert.That(state.Sees(123, before), Is.False, "the same number, another filling");
        Assert.That(AppliedState.IsStill(state.Stamp) && state.Stamp != stamp);
        Assert.That(state.Sees(123, state.Point));
    }

    [Test]
    public void A_store_that_stands_where_it_stood_shows_nothing_to_a_reader_of_an_earlier_batch()
    {
        using AppliedState state = new();
        state.Begin(1, 7, 0);
        ReadPoint before = state.Point;
        state.Sketch.Announce(123, 8);
        state.Publish(1, 8, 0);
        Assert.That(state.Sees(123, before), Is.False);
        uint stamp = state.Stamp;
        state.Begin(1, 8, 0); // by another applier: the announcements are gone, the change is there
        Assert.That(state.Stamp, Is.Not.EqualTo(stamp));
        Assert.That(state.Sees(123, before), Is.False);
        Assert.That(state.Sees(123, state.Point));
    }

    /// <summary>Puts bytes, and shows the key's hash before.</summary>
    private struct Watched : IModify
    {
        private byte* _from;
        private int _bytes;

        [ThreadStatic]
        internal static Action<ulong>? Look;

        [ThreadStatic]
        internal static Store? Of;

        public static byte OpId => TestEntry.Put;
        public readonly long EncodedBytesMax => _bytes;

        public readonly Verdict Plan(in RecordView existing, ref NewRecord next)
        {
            Look?.Invoke(Key);
            next.ValueBytes = _bytes;
            return Verdict.Put;
        }

        // The value is the key's name.
        private readonly ulong Key => Of!.Key(_from, _bytes, Of.Namespaces.Id(0)).Hash;

        public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) => new ReadOnlySpan<byte>(_from, _bytes).CopyTo(value);

        public readonly int Encode(Span<byte> to)
        {
            new ReadOnlySpan<byte>(_from, _bytes).CopyTo(to);
            return _bytes;
        }

        public bool TryDecode(ReadOnlySpan<byte> from)
        {
            fixed (byte* at = from) _from = at;
            _bytes = from.Length;
            return true;
        }
    }
}
