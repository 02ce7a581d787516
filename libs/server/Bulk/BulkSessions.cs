using Garnet.Bulk;
using Garnet.Server.Base;

namespace Garnet.Server.Bulk;

/// <summary>
/// The sessions of clients whose values go beside their connections (rules bulk.S in <see cref="BulkSession"/>), what they may have
/// together, and what has been moved. It knows no connection and no command.
/// </summary>
internal sealed class BulkSessions(BulkSettings settings, ServerLog log)
{
    /// <summary>Bytes that a value goes in over a connection at a time, as clients are advised.</summary>
    internal const int InlineBytes = 1 << 20;

    // How long the other side may take to answer when it is met; it does so at once, or never.
    private const int MeetMs = 5000;

    // Of libfabric. Not shm: a process that is killed while it holds a lock there holds up the other one's thread for ever. Not tcp: its end ends the process
    // if a read is half through; net goes over TCP too.
    private readonly Lock _gate = new();
    private readonly HashSet<BulkSession> _sessions = [];
    private int _reaching, _held, _apart;
    private long _lastId, _moved, _bytesIn, _bytesOut, _failures, _lost, _placed;

    internal BulkBudget Budget { get; } = new(settings);

    /// <summary>How tests open an endpoint; null for <see cref="Endpoint"/>.</summary>
    internal Func<string, string, BulkEndpoint>? Open { get; set; }

    /// <summary>How long somebody waits for memory to come to rest, while the server goes on; behind that it is the session that waits.</summary>
    internal TimeSpan CloseLimit { get; set; } = TimeSpan.FromSeconds(10);

    /// <summary>The same when the server stops: what is not at rest by then is left to the end of the process, which ends it.</summary>
    internal TimeSpan StopLimit { get; set; } = TimeSpan.FromSeconds(1.5);

    /// <summary>What may be asked for beside inline, if the settings name it; tests have more.</summary>
    internal string[] Known { get; set; } = BulkProviders.All;

    internal TimeSpan Timeout => TimeSpan.FromMilliseconds(settings.TimeoutMs);

    internal int Count
    {
        get
        {
            lock (_gate)
                return _sessions.Count;
        }
    }

    internal long Moved => Volatile.Read(ref _moved);
    internal long BytesIn => Volatile.Read(ref _bytesIn);
    internal long BytesOut => Volatile.Read(ref _bytesOut);
    internal long Failures => Volatile.Read(ref _failures);

    /// <summary>Values that lie where they were received, without a copy.</summary>
    internal long Placed => Volatile.Read(ref _placed);

    /// <summary>Sessions that have ended while something still had their memory, ever.</summary>
    internal long Lost => Volatile.Read(ref _lost);

    /// <summary>Those of them whose memory something still has.</summary>
    internal long Held => Volatile.Read(ref _held);

    /// <summary>Places of sessions that reach memory, of bulk-sessions, that are taken.</summary>
    internal long Reaching => Volatile.Read(ref _reaching);

    /// <summary>Why a client on this machine or elsewhere cannot have that carrier; empty if it can.</summary>
    internal string WhyNot(string carrier, bool isOnThisMachine)
    {
        if (Array.IndexOf(Known, carrier) < 0)
            return "this server does not know it";
        if (!settings.Providers.Contains(carrier))
            return "bulk-providers does not name it";
        if (!isOnThisMachine && !BulkProviders.Fabrics.Contains(carrier))
            return "the connection does not come from this machine";
        if (!BulkLibrary.IsAvailable)
            return BulkLibrary.WhyNot;
        foreach (ProviderFact fact in BulkLibrary.Providers)
        {
            if (fact.Name == carrier)
                return fact.IsAvailable ? "" : fact.Reason;
        }

        return "the native library does not know it";
    }

    /// <summary>A session in which all goes over the connection.</summary>
    internal BulkSession OpenInline() => Add(BulkSession.Inline, null, null);

    /// <summary>
    /// A session that reaches memory of the client at that address, which is met first: not on a reactor. A fabric's end here is at an address of this
    /// machine. Null with the reason if it cannot be had.
    /// </summary>
    internal BulkSession? TryOpenReaching(string carrier, byte[] address, string host, out string why)
    {
        why = "there are as many sessions as bulk-sessions allows";
        if (Interlocked.Increment(ref _reaching) > settings.SessionsMax)
        {
            Interlocked.Decrement(ref _reaching);
            return null;
        }

        BulkEndpoint? endpoint = null;
        try
        {
            endpoint = Open is null ? Endpoint(carrier, host) : Open(carrier, host);
            return Add(carrier, endpoint, endpoint.Connect(address, TimeSpan.FromMilliseconds(Math.Min(settings.TimeoutMs, MeetMs))));
        }
        catch (Exception e) when (e is BulkException or OutOfMemoryException) // no thread is to be had
        {
            why = e.Message;
        }

        // Nobody waits for its end, which may not come (bulk.S5).
        if (endpoint is null)
            Interlocked.Decrement(ref _reaching);
        else
            Add(carrier, endpoint, null).Close("its client could not be met");
        return null;
    }

    private static BulkEndpoint Endpoint(string carrier, string host) =>
        BulkEndpoint.Open(carrier, new BulkEndpointOptions { Bind = BulkProviders.Fabrics.Contains(carrier) ? host : null });

    internal void CountMoved(bool writes, long bytes)
    {
        Interlocked.Increment(ref _moved);
        Interlocked.Add(ref writes ? ref _bytesOut : ref _bytesIn, bytes);
    }

    internal void CountPlaced() => Interlocked.Increment(ref _placed);

    internal void CountFailed() => Interlocked.Increment(ref _failures);

    /// <summary>A session has ended, and nothing has its memory.</summary>
    internal void Closed(BulkSession session)
    {
        if (Forget(session) && session.Reaches)
            Interlocked.Decrement(ref _reaching);
    }

    /// <summary>
    /// A session has ended while something still has its memory. bulk.S5: it gives its place among the sessions to others and has one of as
    /// many that are apart, if there is one left, until it is at rest. True if it has.
    /// </summary>
    internal bool Hold(BulkSession session)
    {
        bool isApart;
        lock (_gate)
        {
            _sessions.Remove(session);
            isApart = _apart < settings.SessionsMax;
            _apart += isApart ? 1 : 0;
        }

        Interlocked.Increment(ref _lost);
        Interlocked.Increment(ref _held);
        if (isApart)
            Interlocked.Decrement(ref _reaching);
        log.BulkMemoryLost(session.Id, (long)CloseLimit.TotalMilliseconds);
        return isApart;
    }

    /// <summary>What had its memory has let go of it: it takes up no place any more.</summary>
    internal void CameToRest(BulkSession session, bool isApart)
    {
        if (isApart)
        {
            lock (_gate)
                _apart--;
        }
        else
        {
            Interlocked.Decrement(ref _reaching);
        }

        Interlocked.Decrement(ref _held);
        log.BulkMemoryCameBack(session.Id);
    }

    /// <summary>
    /// Ends all sessions. False if something still holds memory of a transfer: none of that may be given back before the process ends. It is not
    /// waited for longer than for what ends by itself.
    /// </summary>
    internal bool TryClose()
    {
        BulkSession[] all;
        lock (_gate)
            all = [.. _sessions];
        Task<bool>[] closing = Array.ConvertAll(all, static session => session.Close("the server stops"));
        bool isOver = Task.WaitAll(closing, StopLimit / 10); // so quickly no word is needed
        int waiting = closing.Count(static one => !one.IsCompleted);
        if (!isOver)
        {
            log.BulkStopWaits(waiting, (long)StopLimit.TotalMilliseconds);
            isOver = Task.WaitAll(closing, StopLimit);
        }

        long left = closing.LongCount(static one => !one.IsCompleted) + Held;
        if (left > 0)
            log.BulkStopLeaves(left);
        return isOver && left == 0;
    }

    private bool Forget(BulkSession session)
    {
        lock (_gate)
            return _sessions.Remove(session);
    }

    private BulkSession Add(string carrier, BulkEndpoint? endpoint, BulkPeer? peer)
    {
        var session = new BulkSession(this, (ulong)Interlocked.Increment(ref _lastId), carrier, endpoint, peer);
        lock (_gate)
            _sessions.Add(session);
        return session;
    }
}
