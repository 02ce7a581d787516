using Garnet.Common;
using Garnet.Common.Test;
using Garnet.Media;
using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>A disk that does not answer a write: the movers' thread waits for it, and nobody else does, for longer than he says.</summary>
internal sealed class HangingWriteTests
{
    private const int PatienceMs = 60_000;

    // A store with a thread of its own that is in the middle of a write.
    private sealed class Stage : IDisposable
    {
        private readonly ManualResetEventSlim _answers = new(), _writes = new();
        private readonly SimulatedMedium _medium = new(16 << 20);
        private readonly List<byte[]> _keys = []; // a pinned array is collected like any other once nobody has it

        public Stage(EvictionPolicy policy = EvictionPolicy.NoEviction, MediumId id = default)
        {
            Store = new Store(TieredBench.Settings(_medium) with
            {
                TierId = id, BackgroundMovers = true, MemoryLimitBytes = 4 << 20, Policy = policy,
            });
            Store.Namespaces.Id(0);
            Store.LimitTierReads(200);
            Session = Store.OpenSession();
            Session.NowMs = 1_000_000;
            Set("key");
            _medium.BeforeTransfer = () =>
            {
                _writes.Set();
                _answers.Await();
            };
            Session.Tier!.Demote(Key("key"), Session.NowMs);
            _writes.Await();
        }

        public Store Store { get; }
        public StoreSession Session { get; }

        public unsafe KeyRef Key(string key)
        {
            byte[] bytes = GC.AllocateArray<byte>(64, pinned: true);
            _keys.Add(bytes);
            int length = System.Text.Encoding.ASCII.GetBytes(key, bytes);
            return Store.Key((byte*)System.Runtime.CompilerServices.Unsafe.AsPointer(ref bytes[0]), length, 0);
        }

        public Outcome Set(string key)
        {
            SetValue set = new() { Value = new byte[400] };
            return Session.Modify(Key(key), ref set);
        }

        public void Answer() => _answers.Set();

        public void Dispose()
        {
            Answer();
            Session.Dispose();
            Store.Dispose();
            _medium.Dispose();
        }
    }

    [Test]
    public void A_snapshot_that_is_to_name_what_lies_there_is_refused_and_says_why_and_the_next_one_is_taken()
    {
        using Stage stage = new(id: new MediumId(0, 1));
        Assert.That(() => stage.Store.BeginSnapshot(new SnapshotOptions { NamesSegments = true }),
            Throws.TypeOf<GarnetException>().With.Message.Contains("has not answered a write"));
        stage.Answer();
        Assert.That(SpinWait.SpinUntil(() => stage.Store.Figures().Tier!.WriteMs == 0, PatienceMs), Is.True);
        using StoreSnapshot snapshot = stage.Store.BeginSnapshot(new SnapshotOptions { NamesSegments = true });
    }

    [Test]
    public void Expiry_can_be_paused_and_everything_flushed()
    {
        using Stage stage = new();
        stage.Store.PauseExpiry(true);
        stage.Store.Namespaces.Flush(0, wait: true);
        Assert.That(stage.Store.Figures().Tier!.WriteMs, Is.Positive);
    }

    [TestCase(EvictionPolicy.NoEviction)]
    [TestCase(EvictionPolicy.AllKeysLru)]
    public void Who_needs_room_is_refused_or_something_is_evicted_as_if_the_tier_were_full(EvictionPolicy policy)
    {
        using Stage stage = new(policy);
        Outcome last = Outcome.Done;
        for (int i = 0; i < 20_000 && last == Outcome.Done; i++)
        {
            bool hasRoom = stage.Session.Room.Ensure(0);
            while (!hasRoom && stage.Session.Room.IsComing)
            {
                stage.Session.NowMs += 50;
                hasRoom = stage.Session.Room.Ensure(0);
            }

            last = hasRoom ? stage.Set("k" + i) : Outcome.OutOfMemory;
        }

        Assert.That(last, Is.EqualTo(policy == EvictionPolicy.NoEviction ? Outcome.OutOfMemory : Outcome.Done));
        Assert.That(stage.Store.Figures().EvictedKeys, policy == EvictionPolicy.NoEviction ? Is.Zero : Is.Positive);
        Assert.That(stage.Store.Figures().Tier!.WriteMs, Is.Positive, "all the time");
        stage.Answer();
        Assert.That(SpinWait.SpinUntil(() => stage.Store.Figures().Tier!.WriteMs == 0 && !stage.Store.Tiers!.IsHung, PatienceMs), Is.True);
    }

    [Test]
    public void The_end_does_not_wait_for_it_and_leaves_what_it_works_with()
    {
        Stage stage = new();
        stage.Session.Dispose();
        stage.Store.Dispose();
        Assert.That(stage.Store.IsHeldByTier, Is.True);
        stage.Answer(); // its thread ends
    }
}
