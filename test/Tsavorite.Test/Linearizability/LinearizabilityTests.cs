using Garnet.Common.Test;
using NUnit.Framework;
using Tsavorite.Test.Tiers;

namespace Tsavorite.Test.Linearizability;

/// <summary>
/// Real threads on few keys, with the movers at work: every key's history of calls must have an order that explains it.
/// </summary>
internal sealed class LinearizabilityTests
{
    private const int Keys = 2, CallsPerThread = 14, Rounds = 1500;

    private static readonly int s_roundsOverTier = LongRun.IsWanted ? Rounds : Rounds / 2; // of so many a short run plays half there

    [TestCase(2)]
    [TestCase(3)]
    [TestCase(4)]
    public void Every_history_of_a_key_has_an_order(int threads)
    {
        int seed = Environment.TickCount & 0xFFFFFF;
        TestContext.Out.WriteLine($"seed {seed}");
        Assert.That(Unexplained(threads, seed, Rounds, splits: false), Is.Null, $"seed {seed}");
    }

    [LongCase(2, TierParts.Disk)]
    [TestCase(4, TierParts.Disk)]
    [TestCase(4, TierParts.Memory)]
    [TestCase(4, TierParts.MemoryOverDisk)]
    public void So_has_every_history_while_records_go_to_a_tier_and_come_back(int threads, TierParts parts)
    {
        int seed = Environment.TickCount & 0xFFFFFF;
        TestContext.Out.WriteLine($"seed {seed}");
        using MappedTier tier = new(parts, 8 << 20, parts == TierParts.Memory ? 8 << 20 : 128 << 10);
        Assert.That(Unexplained(threads, seed, s_roundsOverTier, splits: false, tier.Medium), Is.Null, $"seed {seed}");
    }

    [Test]
    public void An_increment_made_of_a_read_and_a_write_is_seen_to_lose_updates()
    {
        int seed = Environment.TickCount & 0xFFFFFF;
        Assert.That(Unexplained(3, seed, 20 * Rounds, splits: true), Is.Not.Null, $"seed {seed}");
    }

    [Test]
    public void Histories_without_an_order_are_told_from_those_with_one()
    {
        RegisterCall set = new(RegisterAsk.Set, 1, 1, 1, 2), late = new(RegisterAsk.Set, 2, 2, 3, 6);
        Assert.That(HistorySearch.Explains([set, late, new(RegisterAsk.Get, 0, 1, 4, 5)], null), Is.True,
            "a set under way may not have happened");
        Assert.That(HistorySearch.Explains([set, late, new(RegisterAsk.Get, 0, 2, 4, 5)], null), Is.True, "or it may");
        Assert.That(HistorySearch.Explains([set, late, new(RegisterAsk.Get, 0, 1, 7, 8)], null), Is.False,
            "a set that returned has happened");
        Assert.That(HistorySearch.Explains([set, new(RegisterAsk.Get, 0, null, 3, 4)], null), Is.False, "a value does not vanish");
        RegisterCall one = new(RegisterAsk.Increment, 1, 1, 1, 9), two = new(RegisterAsk.Increment, 1, 1, 2, 8);
        Assert.That(HistorySearch.Explains([one, two], null), Is.False, "a lost update");
        Assert.That(HistorySearch.Explains([one, two with { Result = 2 }], null), Is.True);
        RegisterCall flips = new(RegisterAsk.Get, 0, 2, 4, 5), back = new(RegisterAsk.Get, 0, 1, 6, 7);
        Assert.That(HistorySearch.Explains([set, late with { ReturnedAt = 9 }, flips, back], null), Is.False, "reads do not go back");
        Assert.That(HistorySearch.Explains([set, new(RegisterAsk.Delete, 0, 0, 3, 4)], null), Is.False, "a deletion that found nothing");
    }

    // The first history without an order, or null.
    private static string? Unexplained(int threads, int seed, int rounds, bool splits, Garnet.Media.IMedium? medium = null)
    {
        using Store store = new(Bench.Tiny() with { Partitions = 1, ReserveBytes = 64 << 20, MemoryLimitBytes = 8 << 20, Tier = medium, TierSegmentBytes = 8 << 10 });
        using DemotingThread? demoting = medium is null ? null : new(store);
        using Barrier barrier = new(threads + 1);
        Player[] players = Enumerable.Range(0, threads).Select(i => new Player(store, seed + i, splits, barrier, rounds)).ToArray();
        string? wrong = null;
        long?[] state = new long?[Keys];
        using Register look = new(store, 1);
        for (int round = 0; round < rounds; round++)
        {
            barrier.Await();
            store.StepMovers(1000);
            demoting?.Pause(false);
            barrier.Await();
            demoting?.Pause(true);
            for (int key = 0; key < Keys && wrong == null; key++)
            {
                RegisterCall[] history = players.SelectMany(player => player.Calls[key]).ToArray();
                if (!HistorySearch.Explains(history, state[key]))
                    wrong = $"round {round} key {key} from {state[key]}:\n{string.Join('\n', (object[])history)}";
                state[key] = look.Ask(RegisterAsk.Get, key, 0);
            }
            foreach (Player player in players) player.Stops = wrong != null;
            if (wrong != null) break;
        }
        if (wrong != null) barrier.Await();
        foreach (Player player in players) player.Thread.Await();
        EmptyBaseline.Expect(store, 1000);
        return wrong;
    }

    /// <summary>A thread that plays rounds of random calls and keeps what it saw.</summary>
    private sealed class Player
    {
        private static long s_stamp;
        private readonly Register _register;
        private readonly Barrier _barrier;
        private readonly Random _random;
        private readonly int _rounds;

        public Player(Store store, int seed, bool splits, Barrier barrier, int rounds)
        {
            _register = new Register(store, seed) { SplitsIncrements = splits };
            _barrier = barrier;
            _random = new Random(seed);
            _rounds = rounds;
            Thread = new Thread(Play);
            Thread.Start();
        }

        public Thread Thread { get; }
        public List<RegisterCall>[] Calls { get; } = [[], []];
        public bool Stops { get; set; }

        private void Play()
        {
            for (int round = 0; round < _rounds; round++)
            {
                _barrier.Await();
                if (Stops) break;
                foreach (List<RegisterCall> calls in Calls) calls.Clear();
                for (int i = 0; i < CallsPerThread; i++) Call();
                _barrier.Await();
            }
            _register.Dispose();
        }

        private void Call()
        {
            int key = _random.Next(Keys);
            RegisterAsk ask = (RegisterAsk)_random.Next(4);
            long argument = ask == RegisterAsk.Set ? _random.Next(1000) : 1;
            long calledAt = Interlocked.Increment(ref s_stamp);
            long? result = _register.Ask(ask, key, argument);
            Calls[key].Add(new RegisterCall(ask, argument, result, calledAt, Interlocked.Increment(ref s_stamp)));
        }
    }
}
