using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Shipping;
using Garnet.Common.Faults;
using Garnet.Replication;
using Garnet.Server.Clients;
using Garnet.Server.Persistence;

namespace Garnet.Server.Replication;

/// <summary>
/// The log of this server as its role wants it: one that leads, written by the store, or one that follows, fed by a primary; in the
/// data directory or, without one, in memory. A change of role puts another log in the place of the one there was.
/// </summary>
internal sealed class NodeLog(ServerCore server, DataKeeper? keeper, AppliedState applied, Backlog backlog) : IFollowedLog, IDisposable
{
    private AppendOnlyLog? _current, _retired, _replaced;
    private bool _leads;
    private ulong _last;
    private string? _lost; // why the files do not hold all that is in the store; until other data take their place

    /// <inheritdoc/>
    public AppendOnlyLog? Current => Volatile.Read(ref _current);

    /// <inheritdoc/>
    public AppendOnlyLog? OnDisk => keeper is { HasLog: true } ? Current : null;

    /// <summary>The log in force if this server writes it.</summary>
    internal AppendOnlyLog? Leading => _leads ? Current : null;

    /// <inheritdoc/>
    public bool IsKeptOnDisk => keeper is { HasLog: true, Poison: null };

    /// <inheritdoc/>
    public IDisk? Disk => keeper?.Files.Disk;

    /// <inheritdoc/>
    public Backlog Backlog => backlog;

    /// <summary>Raised on a writer's thread when the log has advanced.</summary>
    internal event Action? Advanced;

    /// <summary>From here on the store's changes go to the log.</summary>
    internal void Lead(AofStart start)
    {
        AppendOnlyLog log = Fresh(start.LastHeaderCrcs.Count);
        log.Start(start);
        Volatile.Write(ref _last, start.LastBatch);
        _leads = true;
        Put(log, start.Term);
        server.Store.SetLog(log);
    }

    /// <inheritdoc/>
    public void Follow(AofStart start)
    {
        Stop();
        AppendOnlyLog log = Fresh(start.LastHeaderCrcs.Count);
        log.Follow(start);
        Put(log, ledTerm: 0);
    }

    /// <summary>The batch that ends with all that has been written so far, of the log that leads or of the last one that did; 0 if none did.</summary>
    internal ulong EndBatch() => server.Store.EndBatch() is > 0 and var batch ? batch : Volatile.Read(ref _last);

    /// <summary>
    /// Stops the log. Where a log ends that failed is no place of the data, of which it may lack the end: then what is returned agrees with
    /// nobody's, and whoever follows gets everything.
    /// </summary>
    public LogPosition Stop()
    {
        if (_leads)
            Volatile.Write(ref _last, server.Store.EndBatch());
        server.Store.SetLog(null);
        _leads = false;
        Current?.Stop();
        if (Current != _replaced)
            _lost ??= Current?.Poison;
        if (_lost is null)
            return backlog.End;
        ulong seen = Math.Max(backlog.End.Batch, applied.Number);
        LogPosition end = LogPosition.Nowhere(Math.Max(seen, Volatile.Read(ref _last)), backlog.End.Crcs.Count);
        Check.That(!end.IsKnown, "replication.Z10 a log that was lost ends where no other log is");
        return end;
    }

    /// <inheritdoc/>
    public void Replace(string snapshot, LogPosition at, IReadOnlyList<TermStart> terms)
    {
        keeper?.Files.Replace(snapshot, at, terms);
        (_lost, _replaced) = (null, Current);
    }

    /// <inheritdoc/>
    public bool CanRewind(ulong batch) => keeper is null || keeper.Files.CanCutBehind(batch);

    /// <inheritdoc/>
    public bool TryRewind(LogPosition to)
    {
        keeper?.Saves?.Interrupt();
        Stop();
        if (keeper is { HasLog: true } && !keeper.Files.TryCutBehind(to))
            return false;
        backlog.Rewind(to);
        return true;
    }

    /// <summary>The term to come is durable before it is used.</summary>
    internal void RaiseTerm(uint term) => keeper?.Files.RaiseTerm(term);

    /// <inheritdoc/>
    public void Dispose()
    {
        _retired?.Dispose();
        if (keeper is not { HasLog: true })
            Current?.Dispose();
    }

    private AppendOnlyLog Fresh(int sublogs)
    {
        AppendOnlyLog log = keeper is { HasLog: true }
            ? keeper.NewLog(sublogs, _lost)
            : new AppendOnlyLog(new AofSettings { Sublogs = Math.Max(sublogs, 1), Sync = SyncPolicy.No }, new NullDisk(), server.Clock, backlog);
        log.Attach(server.Store);
        log.Advanced += () => Advanced?.Invoke();
        return log;
    }

    // Others may be looking at the one before for a moment; it is given back when it has been out of use for a whole role.
    private void Put(AppendOnlyLog log, uint ledTerm)
    {
        _retired?.Dispose();
        _retired = Current;
        Volatile.Write(ref _current, log);
        keeper?.TakeLog(log, ledTerm);
    }
}
