using Garnet.Bulk;

namespace Garnet.Server.Bulk;

/// <summary>
/// What a client has agreed on with the server: what carries the bytes, and which memory of the client's it has named. Its endpoint has
/// no right to expose anything: nothing of this server's memory can be reached through it, whatever a client sends.
///
/// bulk.S1  One session, one endpoint: what a client does wrong ends its own session, and nobody else's transfers.
/// bulk.S2  Memory of a transfer is used again only behind its completion. A transfer that does not end in time poisons the endpoint:
///     the session takes nothing more, and its memory and its share of the budget come back when the library has let go of them: when the
///     page it waits for is served, or its process ends.
/// bulk.S3  Regions and uploads are touched on the connection's reactor alone; all else here from any thread.
/// bulk.S4  What a transfer writes on this side is its own memory: never a record, before the bytes are all there or after. What it reads is that too, or a record
///     that lies still meanwhile (store.P1).
/// bulk.S5  What holds a session up when it has ended takes no place of others: up to bulk-sessions of them have places apart, and the library
///     meets no process again that holds somebody up.
/// </summary>
internal sealed class BulkSession
{
    internal const string Inline = "inline";

    private readonly BulkSessions _home;
    private readonly BulkEndpoint? _endpoint;
    private readonly BulkPeer? _peer;
    private readonly BulkShare _share = new();
    private readonly Dictionary<uint, ClientRegion> _regions = [];
    private readonly Dictionary<ulong, BulkUpload> _uploads = [];
    // Memory of transfers that are over and was not at rest then: each keeps the endpoint's descriptors.
    private readonly List<BulkRegion> _leftOpen = [];
    private readonly Lock _gate = new();
    private ulong _lastToken;
    private Task<bool>? _closed;
    private volatile string _why = "";

    internal BulkSession(BulkSessions home, ulong id, string carrier, BulkEndpoint? endpoint, BulkPeer? peer) =>
        (_home, Id, Carrier, _endpoint, _peer) = (home, id, carrier, endpoint, peer);

    internal ulong Id { get; }

    /// <summary>What carries the bytes.</summary>
    internal string Carrier { get; }

    /// <summary>True if the server reaches the client's memory.</summary>
    internal bool Reaches => _endpoint is not null;

    /// <summary>True once it takes nothing more.</summary>
    internal bool IsClosed => _why.Length > 0;

    /// <summary>Why it takes nothing more.</summary>
    internal string Why => _why;

    internal int RegionCount => _regions.Count;

    /// <summary>What others connect to; empty where nothing is exposed.</summary>
    internal ReadOnlyMemory<byte> Address => _endpoint?.Address ?? default;

    internal bool TryRegion(uint id, out ClientRegion region) => _regions.TryGetValue(id, out region);

    internal bool TryRegister(uint id, in ClientRegion region) => _regions.TryAdd(id, region);

    internal bool Unregister(uint id) => _regions.Remove(id);

    internal int UploadCount => _uploads.Count;

    /// <summary>Somebody looks from time to time which of them are to be given up.</summary>
    internal IDisposable? Watch { get; set; }

    /// <summary>A value that comes in parts from now on.</summary>
    internal BulkUpload OpenUpload(byte[] key, int database, StagedBytes staged)
    {
        var upload = new BulkUpload(++_lastToken, key, database, staged);
        _uploads.Add(upload.Token, upload);
        return upload;
    }

    internal bool TryUpload(ulong token, out BulkUpload upload) => _uploads.TryGetValue(token, out upload!);

    /// <summary>Nothing more of it comes.</summary>
    internal void EndUpload(BulkUpload upload)
    {
        if (_uploads.Remove(upload.Token))
            upload.Staged.Release();
    }

    /// <summary>Gives up those whose time has come; true if some are left.</summary>
    internal bool EndUploads(long nowMs)
    {
        foreach (BulkUpload upload in (BulkUpload[])[.. _uploads.Values])
        {
            if (upload.UntilMs <= nowMs)
                EndUpload(upload);
        }

        return _uploads.Count > 0;
    }

    /// <summary>
    /// True, and counted, if one more transfer of so many bytes may begin; else the waiter is called when it is worth another look.
    /// </summary>
    internal bool TryTake(long bytes, Action? waiter) => _home.Budget.TryTake(_share, bytes, waiter);

    /// <summary>Nobody waits by that name any more.</summary>
    internal void Forget(Action waiter) => _home.Budget.Forget(waiter);

    /// <summary>Memory of a transfer is free.</summary>
    internal void Give(long bytes) => _home.Budget.Give(_share, bytes);

    /// <summary>Moves all of the bytes; none moves any more when this ends.</summary>
    internal async ValueTask<TransferEnd> MoveAsync(bool writes, Memory<byte> bytes, RemoteRange[] there)
    {
        if (IsClosed || _endpoint is null)
            return TransferEnd.Closed;
        if (bytes.IsEmpty)
            return TransferEnd.Done;
        BulkRegion? own = null;
        try
        {
            // Hardware wants to know the memory; nobody is given a right to it.
            own = BulkProviders.Fabrics.Contains(Carrier) ? _endpoint.Register(bytes, default) : null;
            var options = new TransferOptions(_home.Timeout, own);
            long moved = writes ? await _endpoint.WriteAsync(_peer!, [bytes], there, options).ConfigureAwait(false)
                : await _endpoint.ReadAsync(_peer!, there, [bytes], options).ConfigureAwait(false);
            _home.CountMoved(writes, moved);
            return TransferEnd.Done;
        }
        catch (BulkException e)
        {
            _home.CountFailed();
            return EndOf(e);
        }
        catch (ObjectDisposedException)
        {
            return TransferEnd.Closed;
        }
        finally
        {
            if (own is not null)
                CloseOwn(own);
        }
    }

    // What is not at rest yet is tried again with the next one, or has an end with the endpoint.
    private void CloseOwn(BulkRegion own)
    {
        lock (_leftOpen)
        {
            _leftOpen.Add(own);
            _leftOpen.RemoveAll(static region => region.Close(TimeSpan.Zero) == BulkStatus.Ok);
        }
    }

    /// <summary>
    /// Takes nothing more, ends what is under way; the task says true when no memory is anybody else's any more, false if it was waited
    /// for long enough.
    /// </summary>
    internal Task<bool> Close(string why)
    {
        lock (_gate)
        {
            if (_closed is not null)
                return _closed;
            _why = why;
            return _closed = _endpoint is null ? Task.FromResult(Drain()) : OwnThread.Run(Drain);
        }
    }

    private TransferEnd EndOf(BulkException failure)
    {
        switch (failure.Status)
        {
            case BulkStatus.Key or BulkStatus.Denied:
                return TransferEnd.Key;
            case BulkStatus.Range:
                return TransferEnd.Range;
            case BulkStatus.Timeout or BulkStatus.Poisoned:
                Close("a transfer of this session took too long");
                return TransferEnd.Timeout;
            default:
                Close(failure.Message);
                return TransferEnd.Closed;
        }
    }

    private bool Drain()
    {
        if (TryRest(_home.CloseLimit))
        {
            _home.Closed(this);
            return true;
        }

        bool isApart = _home.Hold(this);
        if (isApart)
            _home.Budget.SetApart(_share);
        // A thread for as long as it takes: there are not more of them than there are places.
        _ = OwnThread.Run(() => AwaitRest(isApart));
        return false;
    }

    private bool AwaitRest(bool isApart)
    {
        bool isAtRest = TryRest(Timeout.InfiniteTimeSpan);
        if (isAtRest)
            _home.CameToRest(this, isApart);
        return isAtRest;
    }

    private bool TryRest(TimeSpan limit)
    {
        if (_endpoint is null)
            return true;
        if (_endpoint.Close(limit) != BulkStatus.Ok)
            return false;
        _peer?.Dispose(); // it keeps the endpoint's descriptors and mapped memory
        lock (_leftOpen)
        {
            foreach (BulkRegion region in _leftOpen)
                region.Dispose(); // so does each of these
            _leftOpen.Clear();
        }

        return true;
    }
}
