using System.Buffers;
using Garnet.Bulk.Native;

namespace Garnet.Bulk;

/// <summary>Memory of this process that an endpoint knows, and others may reach as far as they were given a right to.</summary>
public sealed class BulkRegion : IDisposable
{
    private readonly TimeSpan _limit;

    internal BulkRegion(EndpointHandle endpoint, ulong region, RemoteRegion name, MemoryHandle pin, TimeSpan limit)
    {
        Handle = new RegionHandle(endpoint, region, pin);
        Name = name;
        _limit = limit;
    }

    /// <summary>What others reach it by.</summary>
    public RemoteRegion Name { get; }

    internal RegionHandle Handle { get; }

    /// <summary>Nobody begins anything more in it. Ok: nobody is at it, and the memory is its owner's alone. Busy: it stays pinned.</summary>
    public BulkStatus Close(TimeSpan limit) => Handle.Close(BulkNative.Nanoseconds(limit));

    public void Dispose() => Close(_limit);
}
