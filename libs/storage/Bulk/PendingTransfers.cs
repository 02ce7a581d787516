using System.Collections.Concurrent;
using Garnet.Bulk.Native;

namespace Garnet.Bulk;

/// <summary>
/// The transfers of an endpoint that are under way, by the number that comes back with their completion, and those to be used again. Whoever begins one
/// has a credit first, of which there are as many as the ring has room for completions.
/// </summary>
internal sealed class PendingTransfers
{
    private readonly EndpointHandle _endpoint;
    private readonly ConcurrentQueue<PendingTransfer> _unused = new();
    private readonly ConcurrentQueue<int> _places;
    private readonly PendingTransfer?[] _pending;

    public PendingTransfers(EndpointHandle endpoint, int capacity)
    {
        _endpoint = endpoint;
        _places = new ConcurrentQueue<int>(Enumerable.Range(0, capacity));
        _pending = new PendingTransfer?[capacity];
        Credits = new SemaphoreSlim(capacity);
    }

    public SemaphoreSlim Credits { get; }

    public PendingTransfer Take() => _unused.TryDequeue(out PendingTransfer? used) ? used : new PendingTransfer(this);

    public void Return(PendingTransfer pending) => _unused.Enqueue(pending);

    /// <summary>With a credit in hand: there is a place for each.</summary>
    public int Place(PendingTransfer pending)
    {
        bool found = _places.TryDequeue(out int place);
        System.Diagnostics.Debug.Assert(found, "a credit is a place");
        Volatile.Write(ref _pending[place], pending);
        return place;
    }

    /// <summary>Gives its place back, and then its credit.</summary>
    public PendingTransfer Leave(int place)
    {
        PendingTransfer pending = Volatile.Read(ref _pending[place])!;
        _pending[place] = null;
        _places.Enqueue(place);
        Credits.Release();
        return pending;
    }

    public void Cancel(ulong op) => BulkNative.bk_cancel(_endpoint.Value, op);
}
