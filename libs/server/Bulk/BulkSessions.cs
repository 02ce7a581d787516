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

    /// <summary>How long somebody waits for memory to come to rest.</summary>
    internal static readonly TimeSpan CloseLimit = TimeSpan.FromSeconds(10);

    private readonly Lock _gate = new();
    private readonly HashSet<BulkSession> _sessions = [];
    private int _reaching;
    private long _lastId, _moved, _bytesIn, _bytesOut, _failures, _lost, _placed;

    internal BulkBudget Budget { get; } = new(settings);

    /// <summary>How an endpoint is opened; tests open others.</summary>
    internal Func<string, BulkEndpoint> Open { get; set; } = static carrier => BulkEndpoint.Open(carrier);

    /// <summary>What may be asked for beside inline, if the settings name it; tests have more.</summary>
    internal string[] Known { get; set; } = ["local"];

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

    /// <summary>Sessions that have ended while something still had their memory.</summary>
    internal long Lost => Volatile.Read(ref _lost);

    /// <summary>Why a client on this machine or elsewhere cannot have that carrier; empty if it can.</summary>
    internal string WhyNot(string carrier, bool isOnThisMachine)
    {
        if (Array.IndexOf(Known, carrier) < 0)
            return "this server does not know it";
        if (!settings.Providers.Split(' ', StringSplitOptions.RemoveEmptyEntries).Contains(carrier))
            return "bulk-providers does not name it";
        if (!isOnThisMachine)
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
    /// A session that reaches memory of the client at that address, which is met first: not on a reactor. Null with the reason if it
    /// cannot be had.
    /// </summary>
    internal BulkSession? TryOpenReaching(string carrier, byte[] address, out string why)
    {
        why = "there are as many sessions as bulk-sessions allows";
        BulkEndpoint? endpoint = null;
        try
        {
            if (Interlocked.Increment(ref _reaching) <= settings.SessionsMax)
            {
                endpoint = Open(carrier);
                return Add(carrier, endpoint, endpoint.Connect(address, TimeSpan.FromMilliseconds(Math.Min(settings.TimeoutMs, MeetMs))));
            }
        }
        catch (BulkException e)
        {
            why = e.Message;
        }

        if (endpoint is null || endpoint.Close(CloseLimit) == BulkStatus.Ok)
            Interlocked.Decrement(ref _reaching);
        return null;
    }

    internal void CountMoved(bool writes, long bytes)
    {
        Interlocked.Increment(ref _moved);
        Interlocked.Add(ref writes ? ref _bytesOut : ref _bytesIn, bytes);
    }

    internal void CountPlaced() => Interlocked.Increment(ref _placed);

    internal void CountFailed() => Interlocked.Increment(ref _failures);

    /// <summary>A session has ended. One whose memory is not at rest keeps its place among the sessions for good.</summary>
    internal void Closed(BulkSession session, bool isAtRest)
    {
        lock (_gate)
            _sessions.Remove(session);
        if (isAtRest && session.Reaches)
            Interlocked.Decrement(ref _reaching);
        if (isAtRest)
            return;
        Interlocked.Increment(ref _lost);
        log.BulkMemoryLost(session.Id);
    }

    /// <summary>
    /// Ends all sessions. False if something still holds memory of a transfer, or has ever kept it: none of that may be given back.
    /// </summary>
    internal bool TryClose()
    {
        BulkSession[] all;
        lock (_gate)
            all = [.. _sessions];
        return Task.WaitAll(Array.ConvertAll(all, static session => session.Close("the server stops")), 2 * CloseLimit) && Lost == 0;
    }

    private BulkSession Add(string carrier, BulkEndpoint? endpoint, BulkPeer? peer)
    {
        var session = new BulkSession(this, (ulong)Interlocked.Increment(ref _lastId), carrier, endpoint, peer);
        lock (_gate)
            _sessions.Add(session);
        return session;
    }
}
