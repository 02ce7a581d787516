using Garnet.Server.Test.Net;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>A server with a tier whose disk can be made to hang or to be slow; one reactor: whoever is served while another waits is served by the same thread.</summary>
internal sealed class HangingStage : IDisposable
{
    public const int TimeoutMs = 10_000;
    private readonly string _path = Directory.CreateTempSubdirectory("garnet-hang").FullName;
    private readonly EmbeddedServer _server;
    private readonly TestClient _pacer;

    public HangingStage(long memoryBytes = 64 << 20, long tierBytes = 64 << 20)
    {
        _server = new EmbeddedServer(clock: Clock, adjust: settings =>
        {
            settings.Network.ReactorThreads = 1;
            settings.Memory.MaxMemoryBytes = memoryBytes;
            settings.Tier.Promotion = TierPromotion.No;
            (settings.Tier.Path, settings.Tier.SizeBytes) = (_path, tierBytes);
            settings.Tier.Before = disk => Medium = new HangingMedium(disk, Clock);
        });
        (Other, _pacer) = (Connect(), Connect());
        Other.Call("SET", "filler", new string('x', 4096)); // a page between what hangs and what does not
        Cold("well");
        Cold("filler", new string('x', 8192));
    }

    public TestClock Clock { get; } = new();

    public HangingMedium Medium { get; private set; } = null!;

    public TestClient Other { get; }

    public TestClient Connect() => new(_server.Server.Port);

    public RespServer Server => _server.Server;

    public long Records => _server.Server.Store.Figures().Tier!.Records;

    public long BytesLeft => Server.Store.Figures() is var figures ? figures.LimitBytes - figures.UsedBytes : 0;

    public long Figure(string name) => _server.Server.Store.Figures().Tier is { } tier ? name switch
    {
        "owed" => tier.OwedReads,
        "late" => tier.LateReads,
        "refused" => tier.RefusedReads,
        "waits" => tier.Waits,
        "postponed" => tier.Postponed,
        _ => throw new ArgumentException(name),
    } : -1;

    public void Cold(string key, string value = "value")
    {
        Assert.That(Other.Call("SET", key, value), Is.EqualTo("OK"));
        Demote(key);
    }

    public void Fill(string kind, int entries)
    {
        string filler = new('v', 60);
        IEnumerable<string> names = Enumerable.Range(0, entries).Select(static i => $"name {i}");
        Other.Call(kind switch
        {
            "hash" => ["HSET", "key", .. names.SelectMany(name => (string[])[name, filler])],
            "set" => ["SADD", "key", .. names.Select(name => name + filler)],
            "sorted" => ["ZADD", "key", .. names.Select(static (name, i) => (string[])[$"{i * 7919 % 1000}", name]).SelectMany(static pair => pair)],
            "list" => ["RPUSH", "key", .. names],
            _ => ["XGROUP", "CREATE", "key", "group", "0", "MKSTREAM"],
        });
        if (kind == "stream") Other.Pipeline(1, [.. names.Select(name => (string[])["XADD", "key", "*", name, filler])]);
    }

    public void Demote(string key) => Assert.That(Other.Call("TIER.DEMOTE", key), Is.Not.EqualTo("0").And.Not.StartsWith("ERR"), key);

    public void Hang(params string[] read)
    {
        Medium.HangWhatIsReadBy(() => Other.Call(read));
        Clock.Advance(TimeoutMs / 2); // what was read is kept for a moment
        for (int i = 0; i < 3; i++) Other.Call("PING");
    }

    /// <summary>The command waits for the disk, and whoever else asks is answered.</summary>
    public void ExpectOthersServed(int waiting = 1)
    {
        Eventually.Holds(() => Medium.Kept >= waiting);
        Assert.That(Other.Call("PING"), Is.EqualTo("PONG"));
        Assert.That(Other.Call("GET", "well"), Is.EqualTo("value"));
    }

    /// <summary>
    /// Runs this while the clock goes on as far as the disk lets whoever asks wait; behind each step the server has had a look: where it does not get on, as its machine is
    /// busy, no time passes.
    /// </summary>
    public T Slowly<T>(Func<T> call, Action? meanwhile = null) => Slowly(call, meanwhile, () => Medium.Kept > 0);

    /// <summary>The same of what waits for something else than the disk: the clock goes on while that has nothing to read.</summary>
    public T Meanwhile<T>(Func<T> call) => Slowly(call, null, () => Medium.UnderWay == 0);

    private T Slowly<T>(Func<T> call, Action? meanwhile, Func<bool> passes)
    {
        const int StepMs = 50;
        Task<T> answer = Task.Run(call);
        Eventually.Holds(() =>
        {
            meanwhile?.Invoke();
            if (passes())
            {
                Clock.Advance(StepMs);
                _pacer.Call("PING");
            }

            return answer.IsCompleted;
        });
        return answer.Result;
    }

    public void Dispose()
    {
        Medium.TakesMs = 0;
        Medium.Mend();
        Eventually.Holds(() => Other.Call("PING") == "PONG" && Figure("owed") == 0 && Medium.Kept == 0);
        Other.Dispose();
        _pacer.Dispose();
        _server.Dispose();
        Directory.Delete(_path, recursive: true);
    }
}
