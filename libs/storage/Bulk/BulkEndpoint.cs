using System.Buffers;
using System.Numerics;
using System.Text;
using Garnet.Bulk.Native;

namespace Garnet.Bulk;

/// <summary>
/// Reads and writes memory of other processes, and exposes some of this one if it was opened so. What carries the bytes is its provider (<see cref="BulkLibrary.Providers"/>).
/// All may be called from any thread. A transfer that does not end in time poisons the endpoint: it takes nothing more, and the memory of what was under
/// way is given back once it is at rest.
/// </summary>
public sealed class BulkEndpoint : IAsyncDisposable
{
    /// <summary>Parts on each side of a transfer.</summary>
    public const int PartsMax = 64;

    private const int TransfersCeiling = 65536;

    private readonly BulkEndpointOptions _options;
    private readonly EndpointHandle _handle;
    private readonly PendingTransfers _transfers;
    private readonly CompletionReader _reader;

    private BulkEndpoint(BulkEndpointOptions options, ulong endpoint)
    {
        _options = options;
        _handle = new EndpointHandle(endpoint);
        _transfers = new PendingTransfers(_handle, options.TransfersMax);
        _reader = new CompletionReader(_handle, _transfers);
        Address = ReadAddress();
    }

    /// <summary>What another process connects to, as bytes that mean something to its provider; empty where nothing is exposed, for some.</summary>
    public ReadOnlyMemory<byte> Address { get; }

    public unsafe BulkFigures Figures
    {
        get
        {
            var read = new NativeFigures { Size = (uint)sizeof(NativeFigures) };
            BulkException.ThrowUnlessOk(BulkNative.bk_endpoint_figures(_handle.Value, &read));
            return new BulkFigures
            {
                IsPoisoned = read.State == 1,
                TransfersOpen = read.TransfersOpen,
                RegionsOpen = read.RegionsOpen,
                PeersOpen = read.PeersOpen,
                TransfersDone = read.TransfersDone,
                TransfersFailed = read.TransfersFailed,
                BytesRead = read.BytesRead,
                BytesWritten = read.BytesWritten,
                BytesStaged = read.BytesStaged,
            };
        }
    }

    public static unsafe BulkEndpoint Open(string provider, BulkEndpointOptions? options = null)
    {
        BulkLibrary.Demand();
        options ??= new BulkEndpointOptions();
        if (options.TransfersMax is < 1 or > TransfersCeiling || !BitOperations.IsPow2(options.TransfersMax))
            throw new BulkException(BulkStatus.Invalid, "TransfersMax is a power of two, at most 65,536");
        byte[] name = Encoding.UTF8.GetBytes(provider), bind = Encoding.UTF8.GetBytes(options.Bind ?? "");
        ulong endpoint;
        fixed (byte* nameAt = name, bindAt = bind)
        {
            var config = new NativeEndpointConfig
            {
                Size = (uint)sizeof(NativeEndpointConfig),
                Flags = (options.Exposes ? BulkNative.Exposes : 0) | (options.HasVirtualClock ? BulkNative.VirtualClock : 0),
                Provider = nameAt,
                ProviderBytes = (ulong)name.Length,
                TimeoutNs = BulkNative.Nanoseconds(options.Timeout),
                RingEntries = (uint)options.TransfersMax,
                Bind = bindAt,
                BindBytes = (ulong)bind.Length,
            };
            BulkException.ThrowUnlessOk(BulkNative.bk_endpoint_open(&config, &endpoint));
        }
        return new BulkEndpoint(options, endpoint);
    }

    public unsafe BulkPeer Connect(ReadOnlySpan<byte> address, TimeSpan limit)
    {
        ulong peer;
        fixed (byte* at = address)
        {
            ulong limitNs = BulkNative.Nanoseconds(limit);
            BulkException.ThrowUnlessOk(BulkNative.bk_peer_add(_handle.Value, at, (ulong)address.Length, limitNs, &peer));
        }
        return new BulkPeer(_handle, peer, _options.CloseLimit);
    }

    /// <summary>Pins the memory until the region is closed.</summary>
    public unsafe BulkRegion Register(Memory<byte> memory, BulkAccess access)
    {
        MemoryHandle pin = memory.Pin();
        try
        {
            return Register(pin.Pointer, (ulong)memory.Length, access, pin);
        }
        catch (BulkException)
        {
            pin.Dispose();
            throw;
        }
    }

    /// <summary>Memory that its owner keeps where it is until the region is closed.</summary>
    public unsafe BulkRegion Register(void* at, ulong bytes, BulkAccess access) => Register(at, bytes, access, default);

    /// <summary>
    /// Memory of a device ("cuda:0"), as its driver has given it: for transfers from here, which name the region in their options, and for
    /// <see cref="BulkMemory.Copy"/>. Nobody else can reach it. The first of these opens the driver.
    /// </summary>
    public unsafe BulkRegion RegisterDevice(string device, void* at, ulong bytes)
    {
        byte[] name = Encoding.UTF8.GetBytes(device);
        fixed (byte* nameAt = name)
            return Register(at, bytes, default, default, nameAt, (ulong)name.Length);
    }

    /// <summary>How many bytes were read, which is all of them.</summary>
    public ValueTask<long> ReadAsync(
        BulkPeer peer, RemoteRange from, Memory<byte> into, TransferOptions options = default, CancellationToken cancel = default)
    {
        PendingTransfer transfer = Take(peer, writes: false, options, cancel);
        transfer.Remote.Add(from);
        transfer.Local.Add(into);
        return Begin(transfer);
    }

    /// <summary>One after the other, whatever their lengths; together both sides name equally many bytes.</summary>
    public ValueTask<long> ReadAsync(
        BulkPeer peer, ReadOnlySpan<RemoteRange> from, ReadOnlySpan<Memory<byte>> into, TransferOptions options = default,
        CancellationToken cancel = default)
    {
        PendingTransfer transfer = Take(peer, writes: false, options, cancel);
        transfer.Remote.AddRange(from);
        foreach (Memory<byte> part in into)
            transfer.Local.Add(part);
        return Begin(transfer);
    }

    /// <summary>How many bytes were written, which is all of them; they are there when this ends.</summary>
    public ValueTask<long> WriteAsync(
        BulkPeer peer, ReadOnlyMemory<byte> from, RemoteRange to, TransferOptions options = default, CancellationToken cancel = default)
    {
        PendingTransfer transfer = Take(peer, writes: true, options, cancel);
        transfer.Local.Add(from);
        transfer.Remote.Add(to);
        return Begin(transfer);
    }

    /// <summary>One after the other, whatever their lengths; together both sides name equally many bytes.</summary>
    public ValueTask<long> WriteAsync(
        BulkPeer peer, ReadOnlySpan<ReadOnlyMemory<byte>> from, ReadOnlySpan<RemoteRange> to, TransferOptions options = default,
        CancellationToken cancel = default)
    {
        PendingTransfer transfer = Take(peer, writes: true, options, cancel);
        transfer.Local.AddRange(from);
        transfer.Remote.AddRange(to);
        return Begin(transfer);
    }

    /// <summary>Ends what is under way. Busy: some memory is not at rest yet, and stays pinned; it may be asked again.</summary>
    public BulkStatus Close(TimeSpan limit)
    {
        if (_handle.IsClosed)
            return BulkStatus.Ok;
        BulkStatus status = BulkNative.bk_endpoint_close(_handle.Value, BulkNative.Nanoseconds(limit));
        if (status != BulkStatus.Ok)
            return status;
        _reader.Join();
        _handle.Dispose();
        return BulkStatus.Ok;
    }

    /// <summary>Waits for the CloseLimit of the options at most; what is not at rest by then stays as it is.</summary>
    public async ValueTask DisposeAsync() => await Task.Run(() => Close(_options.CloseLimit)).ConfigureAwait(false);

    internal unsafe void Script(NativeLoopFault fault)
    {
        fault.Size = (uint)sizeof(NativeLoopFault);
        BulkException.ThrowUnlessOk(BulkNative.bk_loop_script(_handle.Value, &fault));
    }

    internal void Advance(TimeSpan time) =>
        BulkException.ThrowUnlessOk(BulkNative.bk_loop_advance(_handle.Value, BulkNative.Nanoseconds(time)));

    private unsafe BulkRegion Register(
        void* at, ulong bytes, BulkAccess access, MemoryHandle pin, byte* device = null, ulong deviceBytes = 0)
    {
        ulong region;
        RemoteRegion name;
        var config = new NativeRegionConfig
        {
            Size = (uint)sizeof(NativeRegionConfig),
            Access = (uint)access,
            Base = at,
            Bytes = bytes,
            Device = device,
            DeviceBytes = deviceBytes,
        };
        BulkException.ThrowUnlessOk(BulkNative.bk_region_open(_handle.Value, &config, &region, &name));
        return new BulkRegion(_handle, region, name, pin, _options.CloseLimit);
    }

    private unsafe byte[] ReadAddress()
    {
        ulong bytes = 0;
        BulkNative.bk_endpoint_address(_handle.Value, null, &bytes);
        byte[] address = new byte[bytes];
        fixed (byte* at = address)
            return bytes == 0 || BulkNative.bk_endpoint_address(_handle.Value, at, &bytes) == BulkStatus.Ok ? address : [];
    }

    private PendingTransfer Take(BulkPeer peer, bool writes, TransferOptions options, CancellationToken cancel)
    {
        ObjectDisposedException.ThrowIf(_handle.IsClosed, this);
        PendingTransfer transfer = _transfers.Take();
        transfer.Peer = peer;
        transfer.Writes = writes;
        transfer.Options = options;
        transfer.Cancel = cancel;
        return transfer;
    }

    private ValueTask<long> Begin(PendingTransfer transfer)
    {
        if (transfer.Cancel.IsCancellationRequested)
            return Refuse(transfer, new OperationCanceledException(transfer.Cancel));
        if (Math.Max(transfer.Local.Count, transfer.Remote.Count) > PartsMax)
            return Refuse(transfer, new BulkException(BulkStatus.Invalid, $"more than {PartsMax} parts"));
        return _transfers.Credits.Wait(0) ? Submit(transfer) : BeginLater(transfer);
    }

    private async ValueTask<long> BeginLater(PendingTransfer transfer)
    {
        try
        {
            await _transfers.Credits.WaitAsync(transfer.Cancel).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            transfer.Abandon();
            throw;
        }
        return await Submit(transfer).ConfigureAwait(false);
    }

    private static ValueTask<long> Refuse(PendingTransfer transfer, Exception why)
    {
        transfer.Abandon();
        return ValueTask.FromException<long>(why);
    }

    // Memory of others may refuse to be pinned, in ways of its own.
    private void PinOrGiveBack(PendingTransfer transfer, Span<NativeLocal> local)
    {
        try
        {
            transfer.Pin(local);
        }
        catch
        {
            transfer.Abandon();
            _transfers.Credits.Release();
            throw;
        }
    }

    private unsafe ValueTask<long> Submit(PendingTransfer transfer)
    {
        Span<NativeLocal> local = stackalloc NativeLocal[PartsMax];
        Span<RemoteRange> remote = stackalloc RemoteRange[PartsMax];
        PinOrGiveBack(transfer, local);
        transfer.Remote.CopyTo(remote);
        int place = _transfers.Place(transfer);
        // Before the call: its completion may come, and the transfer be somebody else's, before the call has returned.
        ValueTask<long> task = transfer.Task;
        ulong op;
        BulkStatus status;
        fixed (NativeLocal* localAt = local)
        fixed (RemoteRange* remoteAt = remote)
        {
            var native = new NativeTransfer
            {
                Size = (uint)sizeof(NativeTransfer),
                Peer = transfer.Peer!.Handle.Value,
                Local = localAt,
                Remote = remoteAt,
                LocalCount = (uint)transfer.Local.Count,
                RemoteCount = (uint)transfer.Remote.Count,
                TimeoutNs = BulkNative.Nanoseconds(transfer.Options.Timeout),
                User = (ulong)place,
            };
            status = transfer.Writes ? BulkNative.bk_write(_handle.Value, &native, &op) : BulkNative.bk_read(_handle.Value, &native, &op);
        }
        if (status == BulkStatus.Ok)
        {
            transfer.Begun(op);
            return task;
        }
        var refused = new BulkException(status, BulkNative.LastError());
        _transfers.Leave(place);
        return Refuse(transfer, refused);
    }
}
