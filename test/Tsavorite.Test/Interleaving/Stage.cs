using System.Runtime.InteropServices;
using System.Text;
using Garnet.Aof.Test.Pm;
using Garnet.Media;
using Tsavorite.Test.Snapshots;
using Tsavorite.Test.Tiers;

namespace Tsavorite.Test.Interleaving;

/// <summary>
/// A small store prepared so that every act has something to do: the shared key lies in a full segment that is mostly
/// dead, in an index segment that is the right half of a split and goes right in the next one; on a crowded stage its
/// word lies in an overflow node. Nobody else's writes touch its bucket. The other key is in the other partition.
/// </summary>
internal sealed unsafe class Stage : IDisposable
{
    public const string Shared = "shared", Other = "other";
    private const int KeyRoom = 64, Companions = 9, Neighbours = 12;
    private static readonly StageNames s_names = StageNames.Find(Companions, Neighbours);
    private const int MediumBytes = 256 << 10, TierSegmentBytes = 8 << 10, MemoryBytes = (16 * TierSegmentBytes) + PmMedium.MoreBytes, LongBytes = 20_000;
    private readonly IMedium? _medium;
    private readonly byte* _keys;
    private readonly StoreSession[] _sessions;
    private readonly StoreSession _own;

    public Stage(int threads, StageKind kind)
    {
        if (kind is not (StageKind.Plain or StageKind.Crowded))
            _medium = Medium(kind);
        Store = new Store(Settings() with { Tier = _medium, TierSegmentBytes = TierSegmentBytes, TierId = kind is StageKind.Named or StageKind.Back ? new MediumId(0, 7) : default });
        _keys = (byte*)NativeMemory.AllocZeroed((nuint)(KeyRoom * 8));
        _sessions = Enumerable.Range(0, threads).Select(_ => Store.OpenSession()).ToArray();
        _own = Store.OpenSession();
        foreach (StoreSession session in _sessions) session.NowMs = NowMs;
        _own.NowMs = NowMs;
        Namespace = Store.Namespaces.Id(0);
        Prepare(kind == StageKind.Crowded);
        if (kind is StageKind.Long or StageKind.ColdLong)
            Put(_own, Shared, 3, 'l', LongBytes);
        if (kind == StageKind.Timed)
            Put(_own, Shared, 3, 't', 24, NowMs + 500);
        if (kind is not (StageKind.Plain or StageKind.Crowded or StageKind.Warm or StageKind.Long))
            Cool();
        if (kind == StageKind.Back)
            _own.Tier!.Promote(Key(Shared, 3), NowMs);
        foreach (StoreSession session in _sessions) Arm(session);
    }

    public static long NowMs => 1_000_000;
    public Store Store { get; }
    public uint Namespace { get; }
    public uint SharedSegment { get; private set; }
    public Partition* Partition => Shape.PartitionOf(Store.Core.Shape, Key(Shared, 3).Hash);
    /// <summary>The snapshot that an act has taken, which names what lies on the tier; it is looked at when all has ended.</summary>
    public NamingList? Names { get; set; }
    public StoreSession Session(int thread) => _sessions[thread];

    public static StoreSettings Settings() => Bench.Tiny() with { MemoryLimitBytes = 8 << 20, ReserveBytes = 64 << 20, TtlClasses = 1 };

    /// <summary>A key reference in a buffer of the thread's own; number 3 belongs to the stage.</summary>
    public KeyRef Key(string name, int thread)
    {
        byte* bytes = _keys + thread * KeyRoom;
        int length = Encoding.ASCII.GetBytes(s_names.Real(name), new Span<byte>(bytes, 32));
        return Store.Key(bytes, length, Namespace);
    }

    /// <summary>A key of the shared one's partition and another bucket.</summary>
    public static string Near(int number) => s_names.Neighbours[number];

    /// <summary>All that a client could see, after the store has checked itself.</summary>
    public string Outcome()
    {
        IReadOnlyList<string> broken = StoreCheck.Run(Store);
        if (broken.Count != 0) return "broken: " + string.Join("; ", broken);
        StringBuilder text = new();
        text.Append(Store.Count(Namespace)).Append(' ').Append(Store.CountWithExpiry(Namespace));
        foreach (string name in s_names.All) text.Append(' ').Append(Look(name));
        if (Names is not null) text.Append(" snapshot ").Append(Named(Names));
        return text.ToString();
    }

    // What a start would have of it: whatever went on meanwhile, and since, what it names lies there as it did at its cut.
    private string Named(NamingList names)
    {
        using Store reader = new(Bench.Tiny() with { Named = _medium });
        LoadOutcome outcome = names.Load(reader);
        return $"{outcome} {string.Join(' ', Content.Of(reader).Select(static pair => $"{pair.Key}={pair.Value}"))}";
    }

    public void Put(StoreSession session, string name, int thread, char letter, int bytes, long expireAtMs = 0)
    {
        SlowPut put = new() { Letter = (byte)letter, Bytes = bytes, ExpireAtMs = expireAtMs };
        session.Modify(Key(name, thread), ref put);
    }

    public void Dispose()
    {
        foreach (StoreSession session in _sessions) session.Dispose();
        _own.Dispose();
        Store.Dispose();
        _medium?.Dispose();
        NativeMemory.Free(_keys);
    }

    private static IMedium Medium(StageKind kind)
    {
        SimulatedMedium disk = new(MediumBytes) { BeforeTransfer = static () => StoreTestHooks.Yield(YieldPoint.Value) };
        if (kind != StageKind.Above)
            return disk;
        return new LayeredMedium(disk, new PmMedium(new PmSim(new byte[MemoryBytes]) { OnStep = static () => StoreTestHooks.Yield(YieldPoint.Value) }));
    }

    // Eight records of 488 bytes fill a segment; a second segment is opened behind the one that holds the shared key.
    private void Prepare(bool crowded)
    {
        for (int i = 0; i < Companions && crowded; i++) Put(_own, s_names.Companions[i], 3, 'a', 8);
        Put(_own, Shared, 3, 'a', 24);
        Put(_own, Other, 3, 'a', 24);
        KeyRef shared = Key(Shared, 3);
        byte* bucket = Shape.BucketOf(Store.Core.Shape, Partition, shared.Hash);
        ulong* slot = Bucket.Find(Store.Core.Shape, Partition, bucket, shared);
        SharedSegment = Shape.SegmentOf(Store.Core.Shape, IndexWord.Offset(*slot));
        for (int i = 0; i < 9; i++) Put(_own, Near(i), 3, 'f', 464);
        for (int i = 2; i < 8; i++) Delete(_own, Near(i), 3);
        Tsavorite.Partition.Enter(Partition);
        Store.Core.Index.Split(Partition, shared.Hash);
        Tsavorite.Partition.Exit(Partition);
    }

    // What is deleted there lay between the others: its segment is worth being moved together.
    private void Cool()
    {
        for (int i = 9; i < 12; i++) Put(_own, Near(i), 3, 'g', 464);
        Store.Tiers!.DemoteAll();
        for (int i = 9; i < 12; i++) Delete(_own, Near(i), 3);
    }

    // The next counted read is the one that raises the frequency.
    private void Arm(StoreSession session)
    {
        for (int i = 0; i < 6; i++) Read(session, Other, 3);
    }

    public void Delete(StoreSession session, string name, int thread)
    {
        DeleteKey delete = default;
        session.Modify(Key(name, thread), ref delete);
    }

    private string Look(string name)
    {
        SlowRead read = default;
        return _own.Read(Key(name, 3), ref read, quiet: true) == Tsavorite.Outcome.Done ? read.Text : "-";
    }

    private void Read(StoreSession session, string name, int thread)
    {
        SlowRead read = default;
        session.Read(Key(name, thread), ref read);
    }
}
