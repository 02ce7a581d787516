using System.Buffers;
using System.Threading.Tasks.Sources;
using Garnet.Bulk.Native;

namespace Garnet.Bulk;

/// <summary>A transfer that somebody waits for: what it is, what it pins, and the source of its ValueTask. Used again once it has been waited for.</summary>
internal sealed class PendingTransfer(PendingTransfers home) : IValueTaskSource<long>
{
    private readonly List<MemoryHandle> _pins = [];
    private ManualResetValueTaskSourceCore<long> _source = new() { RunContinuationsAsynchronously = true };
    private CancellationTokenRegistration _cancellation;
    private ulong _op;

    public bool Writes { get; set; }
    public BulkPeer? Peer { get; set; }
    public List<ReadOnlyMemory<byte>> Local { get; } = [];
    public List<RemoteRange> Remote { get; } = [];
    public TransferOptions Options { get; set; }
    public CancellationToken Cancel { get; set; }

    public ValueTask<long> Task => new(this, _source.Version);

    public unsafe void Pin(Span<NativeLocal> into)
    {
        ulong own = Options.Own?.Handle.Value ?? 0;
        for (int at = 0; at < Local.Count; at++)
        {
            MemoryHandle pin = Local[at].Pin();
            _pins.Add(pin);
            into[at] = new NativeLocal { At = pin.Pointer, Bytes = (ulong)Local[at].Length, Region = own };
        }
    }

    /// <summary>The native library has it. Its completion may have been taken already: to cancel it does nothing then.</summary>
    public void Begun(ulong op)
    {
        _op = op;
        if (Cancel.CanBeCanceled)
            _cancellation = Cancel.UnsafeRegister(static pending => ((PendingTransfer)pending!).CancelNative(), this);
    }

    /// <summary>It was refused, or never begun.</summary>
    public void Abandon()
    {
        Unpin();
        Clear();
        home.Return(this);
    }

    // bulk.M1
    public void Complete(in NativeCompletion completion, string detail)
    {
        Unpin();
        if (completion.Status == BulkStatus.Ok)
            _source.SetResult((long)completion.Bytes);
        else
            _source.SetException(new BulkException(completion.Status, detail));
    }

    public long GetResult(short token)
    {
        CancellationToken cancel = Cancel;
        // Waits for a cancellation that is just running: the next transfer of this object must not be taken for this one.
        _cancellation.Dispose();
        try
        {
            return _source.GetResult(token);
        }
        catch (BulkException stopped) when (stopped.Status == BulkStatus.Canceled && cancel.IsCancellationRequested)
        {
            throw new OperationCanceledException("The transfer was cancelled.", stopped, cancel);
        }
        finally
        {
            _source.Reset();
            Clear();
            home.Return(this);
        }
    }

    public ValueTaskSourceStatus GetStatus(short token) => _source.GetStatus(token);

    public void OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _source.OnCompleted(continuation, state, token, flags);

    private void CancelNative() => home.Cancel(_op);

    private void Unpin()
    {
        foreach (MemoryHandle pin in _pins)
            pin.Dispose();
        _pins.Clear();
    }

    private void Clear()
    {
        Local.Clear();
        Remote.Clear();
        Peer = null;
        Options = default;
        Cancel = default;
        _cancellation = default;
    }
}
