using System.Runtime.InteropServices;
using System.Text;

namespace Tsavorite.Test;

/// <summary>A store with short ways to use it; keys are kept in a padded buffer of its own.</summary>
internal sealed unsafe class Bench : IDisposable
{
    private readonly byte* _key = (byte*)NativeMemory.Alloc(Store.KeyBytesMax + 64);
    private CopyOut _copy = new();

    public Bench(StoreSettings? settings = null)
    {
        Store = new Store(settings ?? Tiny());
        Store.Namespaces.Id(0);
        Session = Store.OpenSession();
        Session.NowMs = 1_000_000;
    }

    public Store Store { get; }
    public StoreSession Session { get; }
    public long NowMs { get => Session.NowMs; set => Session.NowMs = value; }

    /// <summary>Few small partitions, two-bucket index segments, 4 KiB record segments, stepped movers.</summary>
    public static StoreSettings Tiny() => new()
    {
        MemoryLimitBytes = 64 << 20,
        ReserveBytes = 512L << 20,
        Partitions = 2,
        SegmentBytes = 4096,
        IndexBuckets = 2,
        TtlClasses = 3,
        HashSeed = 42,
        BackgroundMovers = false,
        HugePages = false,
    };

    public KeyRef Key(string key, uint ns = 0)
    {
        int length = Encoding.UTF8.GetBytes(key, new Span<byte>(_key, Store.KeyBytesMax));
        return Store.Key(_key, length, ns);
    }

    public Outcome Set(string key, byte[] value, uint ns = 0, long expireAtMs = 0, ulong etag = 0, RecordKind kind = RecordKind.String)
    {
        SetValue set = new() { Value = value, ExpireAtMs = expireAtMs, ETag = etag, Kind = kind };
        return Session.Modify(Key(key, ns), ref set);
    }

    /// <summary>Room for so many bytes, for who waits while the movers go on.</summary>
    public bool FindsRoom(long bytes)
    {
        const int StepsMax = 1000;
        for (int steps = 0; !Session.Room.Ensure(bytes); steps++)
        {
            if (!Session.Room.IsComing || steps == StepsMax)
                return false;
            Store.StepMovers(NowMs);
        }
        return true;
    }

    public Outcome Set(string key, string value) => Set(key, Encoding.UTF8.GetBytes(value));

    public Outcome Append(string key, byte[] tail, uint ns = 0)
    {
        AppendBytes append = new() { Tail = tail };
        return Session.Modify(Key(key, ns), ref append);
    }

    public Outcome Fields(string key, long expireAtMs, ulong etag, uint ns = 0)
    {
        SetFields fields = new() { ExpireAtMs = expireAtMs, ETag = etag };
        return Session.Modify(Key(key, ns), ref fields);
    }

    public Outcome Delete(string key, uint ns = 0)
    {
        DeleteKey delete = default;
        return Session.Modify(Key(key, ns), ref delete);
    }

    /// <summary>The value, or null.</summary>
    public byte[]? Get(string key, uint ns = 0) => Session.Read(Key(key, ns), ref _copy) == Outcome.Done ? _copy.Span.ToArray() : null;

    public string? Text(string key) => Get(key) is { } bytes ? Encoding.UTF8.GetString(bytes) : null;

    /// <summary>What the last <see cref="Get"/> saw.</summary>
    public CopyOut Last => _copy;

    public void StepUntilIdle(int roundsMax = 1000)
    {
        for (int i = 0; i < roundsMax && Store.StepMovers(NowMs); i++) { }
    }

    public void Dispose()
    {
        EmptyBaseline.Expect(Store, NowMs);
        Session.Dispose();
        Store.Dispose();
        NativeMemory.Free(_key);
    }
}
