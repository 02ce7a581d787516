using System.Buffers;
using Garnet.Bulk;

namespace Garnet.Client;

/// <summary>Memory that values go from and come to. While a call with it is under way it is the server's too.</summary>
public sealed class BulkBuffer : IDisposable
{
    private readonly IMemoryOwner<byte>? _owner;
    private readonly BulkRegion? _region;

    internal BulkBuffer(int id, Memory<byte> memory, IMemoryOwner<byte>? owner, BulkRegion? region) =>
        (Id, Memory, _owner, _region) = (id, memory, owner, region);

    public Memory<byte> Memory { get; }

    internal int Id { get; }

    internal RemoteRegion? Name => _region?.Name;

    /// <summary>The server cannot reach it any more when this returns, whatever it does.</summary>
    public void Dispose()
    {
        _region?.Dispose();
        _owner?.Dispose();
    }
}
