using System.Globalization;
using Garnet.Bulk;
using Garnet.Bulk.Native;
using Garnet.Server.Bulk;
using Tsavorite;

namespace Garnet.Server.Test.Bulk;

/// <summary>
/// A server whose transfers do as a script says, by a clock that the test moves, and memory of this process that it may reach.
/// </summary>
internal sealed class BulkBench : IDisposable
{
    internal const string Provider = "loop";
    internal const int Size = 1 << 20;

    private readonly List<BulkEndpoint> _own = [];
    private readonly EmbeddedServer _embedded;
    private readonly BulkEndpoint _exposed = BulkEndpoint.Open(Provider, new BulkEndpointOptions { Exposes = true });
    private readonly BulkRegion _region;

    internal BulkBench(Action<ServerSettings>? adjust = null, IWriteLog? log = null)
    {
        _embedded = new EmbeddedServer(log, adjust: settings =>
        {
            settings.Bulk.Providers = new("local", Provider);
            settings.Bulk.WaitMs = 60_000;
            adjust?.Invoke(settings);
        });
        Sessions.Known = ["local", Provider];
        Sessions.Open = (carrier, _) =>
        {
            _own.Add(BulkEndpoint.Open(carrier, new BulkEndpointOptions { HasVirtualClock = carrier == Provider }));
            return _own[^1];
        };
        _region = _exposed.Register(Memory, BulkAccess.Read | BulkAccess.Write);
    }

    internal BulkSessions Sessions => _embedded.Server.Context.Bulk;

    /// <summary>What the server reaches as region 1 of each session.</summary>
    internal byte[] Memory { get; } = GC.AllocateUninitializedArray<byte>(Size, pinned: true);

    internal RemoteRegion Region => _region.Name;

    internal int Port => _embedded.Server.Port;

    /// <summary>The endpoint of the session that was opened so many sessions ago, on the server's side.</summary>
    internal BulkEndpoint Own(int back = 0) => _own[^(back + 1)];

    internal TestClient Connect() => new(Port);

    /// <summary>A client with a session and its region.</summary>
    internal TestClient Meet(string user = "")
    {
        TestClient client = Connect();
        if (user.Length > 0)
            client.Call("AUTH", user, "p");
        Assert.That(Hello(client), Does.Contain($" provider {Provider} "));
        Assert.That(Register(client, 1, Region), Is.EqualTo("OK"));
        return client;
    }

    internal string Hello(TestClient client) =>
        client.Call("BULK.HELLO", "1", "PROVIDERS", Provider, "ADDR", System.Text.Encoding.Latin1.GetString(_exposed.Address.Span));

    internal static string Register(TestClient client, int id, RemoteRegion region, string access = "RW") =>
        client.Call("BULK.REG", Text((ulong)id), Text(region.Base), Text(region.Length), Text(region.Key), "MEM", "host", access);

    /// <summary>The next piece of the last session comes to rest so much later than it should.</summary>
    internal void Script(LoopFaultKind kind, double laterMs = 0, int back = 0) =>
        Own(back).Script(new NativeLoopFault { Kind = kind, LaterNs = (ulong)(laterMs * 1e6), Status = kind is LoopFaultKind.Fail or LoopFaultKind.Torn ? BulkStatus.IO : BulkStatus.Ok, Bytes = kind == LoopFaultKind.Torn ? 1000u : 0 });

    /// <summary>Waits until a transfer is under way, so that time that passes is its time.</summary>
    internal void AwaitRunning(int back = 0)
    {
        Eventually.Holds(() => Own(back).Figures.TransfersOpen == 1);
        Own(back).Advance(TimeSpan.Zero);
    }

    /// <summary>Time passes for the transfers of a session.</summary>
    internal void Advance(double ms, int back = 0) => Own(back).Advance(TimeSpan.FromMilliseconds(ms));

    internal void AwaitIdle()
    {
        Eventually.Holds(() => Sessions.Budget.Operations == 0 && Sessions.Budget.Bytes == 0); // given back one behind the other
    }

    /// <summary>Fills the memory with what is told from other fillings.</summary>
    internal string Fill(int bytes, int seed)
    {
        for (int i = 0; i < bytes; i++)
            Memory[i] = (byte)('a' + ((i * 7) + (i >> 8) + seed) % 26);
        return System.Text.Encoding.Latin1.GetString(Memory, 0, bytes);
    }

    internal string Held(int bytes) => System.Text.Encoding.Latin1.GetString(Memory, 0, bytes);

    public void Dispose()
    {
        _embedded.Dispose();
        _region.Dispose();
        _exposed.Close(TimeSpan.FromSeconds(10));
    }

    private static string Text(ulong number) => number.ToString(CultureInfo.InvariantCulture);
}
