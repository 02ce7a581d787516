using Garnet.Bulk;
using Garnet.Client;

namespace Garnet.Load.Compare.Bulk;

/// <summary>By our own client.</summary>
internal sealed class ClientWay : IBulkWay
{
    private readonly BulkClient _client;
    private readonly bool _isOwn;
    private BulkBuffer? _buffer;

    /// <param name="server">Ours.</param>
    /// <param name="provider">What carries the bytes.</param>
    /// <param name="isOwn">From and to memory of the caller's, else of the library's.</param>
    public ClientWay(RunningPeer server, string provider, bool isOwn)
    {
        (ServerPid, _isOwn) = (server.Pid, isOwn);
        _client = BulkClient.ConnectAsync(server.Server, new BulkClientOptions { Providers = [provider] }).GetAwaiter().GetResult();
        Name = provider == "inline" ? "BULK inline" : $"BULK {provider}, {(isOwn ? "memory of one's own" : "a segment")}";
    }

    /// <summary>True if this machine has the provider.</summary>
    public static bool Has(string provider) =>
        BulkLibrary.IsAvailable && BulkLibrary.Providers.Any(known => known.Name == provider && known.IsAvailable);

    public string Name { get; }

    public int ServerPid { get; }

    public void Prepare(int size)
    {
        if (_buffer?.Memory.Length == size) return;
        if (_buffer is not null) _client.ReleaseAsync(_buffer).GetAwaiter().GetResult();
        _buffer = (_isOwn ? _client.RegisterAsync(new byte[size]) : _client.AllocateAsync(size)).GetAwaiter().GetResult();
        _buffer.Memory.Span.Fill((byte)'b');
    }

    public void Put(string key, int size)
    {
        if (_client.PutAsync(key, _buffer!, 0, size).GetAwaiter().GetResult() is null) throw new InvalidDataException("nothing was put");
    }

    public void Get(string key, int size)
    {
        if (_client.GetAsync(key, _buffer!, 0, size).GetAwaiter().GetResult()?.Total != size) throw new InvalidDataException("another value has come");
    }

    public void Dispose()
    {
        _buffer?.Dispose();
        _client.DisposeAsync().AsTask().GetAwaiter().GetResult();
    }
}
