using Garnet.Common;
using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>A store over a disk of which some places hang, and its time.</summary>
internal sealed class HangingDiskStage : IDisposable
{
    private const int ValueBytes = 3000;
    private const long Second = 1_000_000;
    private readonly HashSet<long> _hung = [];
    private readonly List<ColdWait> _waits = [];
    private readonly SimulatedMedium _medium = new(64 << 20);

    public HangingDiskStage(Func<StoreSettings, StoreSettings>? change = null)
    {
        StoreSettings settings = TieredBench.Settings(_medium) with { TierObserver = Told, MonotonicUs = () => NowUs };
        Bench = new Bench(change?.Invoke(settings) ?? settings);
        _medium.Hangs = offset => _hung.Contains(offset / ColdSegments.PageBytes);
        _medium.NowUs = () => NowUs;
        _medium.Waits = milliseconds => NowUs += milliseconds * 1000L;
    }

    public Listener Told { get; } = new();
    public Bench Bench { get; }
    public SimulatedMedium Medium => _medium;
    public long NowUs { get; private set; } = 1;
    public SessionTier Tier => Bench.Session.Tier!;
    public TierFigures Figures => Bench.Tier();

    /// <summary>What the device does not answer, by the key that lies there.</summary>
    public void Hang(string key) => _hung.Add(OffsetOf(key) / ColdSegments.PageBytes);

    /// <summary>The whole segment, for who reads it as one.</summary>
    public void HangAt(long segment) => _hung.Add(segment * SegmentBytes / ColdSegments.PageBytes);

    /// <summary>The segment that the key's record lies in.</summary>
    public long SegmentOf(string key) => OffsetOf(key) / SegmentBytes;

    /// <summary>k0 to that one, those of one segment together.</summary>
    public IEnumerable<string[]> KeysBySegment(int keys) =>
        Enumerable.Range(0, keys).Select(static i => "k" + i).GroupBy(SegmentOf).OrderBy(static segment => segment.Key).Select(static keys => keys.ToArray());

    public int SegmentBytes => Bench.Store.Core.Tier!.Segments.SegmentBytes;

    private unsafe long OffsetOf(string key)
    {
        KeyRef sought = Bench.Key(key);
        Shape* shape = Bench.Store.Core.Shape;
        Partition* partition = Shape.PartitionOf(shape, sought.Hash);
        for (SlotWalk walk = new(partition, Shape.BucketOf(shape, partition, sought.Hash)); walk.Next();)
        {
            ulong word = *walk.Slot;
            if (IndexWord.IsCold(word) && (word ^ Shape.TagOf(shape, sought.Hash)) >> IndexWord.TagShift == 0)
                return ColdAddress.Offset(word);
        }

        throw new InvalidOperationException($"{key} is not on the tier");
    }

    public void Mend() => _hung.Clear();

    public void Skip(long microseconds) => NowUs += microseconds;

    public void Pass(long microseconds)
    {
        NowUs += microseconds;
        Bench.NowMs += microseconds / 1000;
        for (int i = 0; i < 100; i++) Tier.Poll(Bench.NowMs);
        _waits.RemoveAll(wait => !Tier.Awaits(wait)); // it is done again at once, or never
    }

    /// <summary>The first try of a step: it is put off.</summary>
    public ColdWait Try(string key)
    {
        Assert.That(() => Bench.Get(key), Throws.TypeOf<ColdMissException>(), key);
        _waits.Add(Tier.TakeWanted());
        return _waits[^1];
    }

    /// <summary>A try that nobody waits for: false if it has an error.</summary>
    public bool IsPutOff(string key)
    {
        try
        {
            Bench.Get(key);
        }
        catch (ColdMissException)
        {
            Tier.GiveUp(Tier.TakeWanted());
            return true;
        }
        catch (GarnetException)
        {
        }

        return false;
    }

    public void ExpectError(string key) =>
        Assert.That(() => Bench.Get(key), Throws.TypeOf<GarnetException>().With.Message.Contains("the device has not answered"), key);

    /// <summary>As who does not poll: that it is there again is learned with a try.</summary>
    public void AskAnew(string key)
    {
        try
        {
            Bench.Append(key, []);
        }
        catch (GarnetException)
        {
            // not yet
        }
    }

    public void ExpectValue(string key, int bytes = ValueBytes) =>
        Assert.That(Bench.Get(key), Is.EqualTo(TieredBench.Value(int.Parse(key[1..], System.Globalization.CultureInfo.InvariantCulture), bytes)), key);

    /// <summary>Each read that was ever begun is where it belongs: with the device, waited for or owed, or nowhere.</summary>
    public void Expect(int owed, int pending)
    {
        Assert.That((Figures.OwedReads, Tier.Pending, Bench.Pins()), Is.EqualTo((owed, pending, owed + pending)), "owed, waited for, pinned");
        Assert.That(Medium.UnderWay, Is.GreaterThanOrEqualTo(owed));
    }

    public void Dispose()
    {
        Mend();
        Pass(Second);
        Tier.MayPostpone = null;
        Bench.ExpectNothingUnderWay();
        Expect(owed: 0, pending: 0);
        Assert.That(Medium.UnderWay, Is.Zero);
        Bench.Dispose();
        _medium.Dispose();
    }

    internal sealed class Listener : ITierObserver
    {
        public List<string> Lines { get; } = [];

        public void OnReadFailed(string why, string remedy, long failures) => Lines.Add(why);

        public void OnOwing(string? why) => Lines.Add(why is null ? "all came" : "one did not");

        public void OnGivenUp(string why, long records) => Lines.Add(why);

        public void OnWriting(string? failure) => Lines.Add("" + failure);

        public void OnBudget(bool isSpent) => Lines.Add("budget");

        public void OnFull(bool isFull) => Lines.Add("full");
    }
}
