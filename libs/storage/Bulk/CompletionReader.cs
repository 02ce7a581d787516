using Garnet.Bulk.Native;

namespace Garnet.Bulk;

/// <summary>The thread that takes an endpoint's completions from the mapped ring (bulk.M4), until the endpoint is closed and the ring is empty.</summary>
internal sealed unsafe class CompletionReader
{
    private const ulong WaitNs = 60_000_000_000;

    private readonly EndpointHandle _endpoint;
    private readonly PendingTransfers _transfers;
    private readonly NativeRingHeader* _header;
    private readonly NativeCompletion* _entries;
    private readonly Thread _thread;

    public CompletionReader(EndpointHandle endpoint, PendingTransfers transfers)
    {
        _endpoint = endpoint;
        _transfers = transfers;
        var ring = new NativeRing { Size = (uint)sizeof(NativeRing) };
        BulkException.ThrowUnlessOk(BulkNative.bk_endpoint_ring(endpoint.Value, &ring));
        _header = ring.Header;
        _entries = ring.Entries;
        // The ring is the endpoint's memory: it stays for as long as it is read.
        bool isHeld = false;
        endpoint.DangerousAddRef(ref isHeld);
        _thread = new Thread(Run) { IsBackground = true, Name = "bulk-completions" };
        _thread.Start();
    }

    /// <summary>Behind the close of the endpoint.</summary>
    public void Join() => _thread.Join();

    private void Run()
    {
        while (BulkNative.bk_wait(_endpoint.Value, WaitNs) is BulkStatus.Ok or BulkStatus.Timeout)
            TakeAll();
        _endpoint.DangerousRelease();
    }

    private void TakeAll()
    {
        ulong tail = _header->Tail;
        ulong head = Volatile.Read(ref _header->Head);
        while (tail != head)
        {
            NativeCompletion completion = _entries[tail % _header->Capacity];
            // The entry is the library's again before there is a credit for it.
            Volatile.Write(ref _header->Tail, ++tail);
            _transfers.Leave((int)completion.User).Complete(completion, BulkNative.ProviderText(_endpoint.Value, completion.ProviderError));
        }
    }
}
