using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Shipping;
using Garnet.Common.Faults;
using Garnet.Common.Time;
using Garnet.Replication;
using Garnet.Server.Clients;
using Garnet.Server.Persistence;
using Tsavorite;

namespace Garnet.Server.Replication;

/// <summary>
/// The log of this server as its role wants it: one that leads, written by the store, or one that follows, fed by a primary; in the
/// data directory or, without one, in memory. A change of role puts another log in the place of the one there was.
///
/// replication.Z10  Where a log ends that was lost, nobody is: a server whose log failed goes on from no place of another one, and gets everything.
/// </summary>
internal sealed class NodeLog(
    Store store, IClock clock, DataKeeper? keeper, NodeHistory history, AppliedState applied, Backlog backlog) : IFollowedLog, IDisposable
{
    private AppendOnlyLog? _current, _retired, _replaced;
    private bool _leads;
    private ulong _last;
    private string? _lost; // why the files do not hold all that is in the store; until other data take their place

    /// <inheritdoc/>
    public AppendOnlyLog? Current => Volatile.Read(ref _current);

    /// <inheritdoc/>
    public AppendOnlyLog? OnDisk => HasDisk ? Current : null;

    /// <summary>True if there is a data directory.</summary>
    internal bool HasDirectory => keeper is not null;

    /// <summary>True if the log is on disk.</summary>
    internal bool HasDisk => keeper is { HasLog: true };

    /// <summary>True if there is a log, or will be one by itself.</summary>
    internal bool IsThere => HasDisk || Current is not null;

    /// <summary>Lanes and hash seed of what this server writes.</summary>
    internal (int Lanes, ulong HashSeed) OwnLayout => (store.Partitions, store.HashSeed);

    /// <summary>The log in force if this server writes it.</summary>
    internal AppendOnlyLog? Leading => _leads ? Current : null;

    /// <inheritdoc/>
    public bool IsKeptOnDisk => keeper is { HasLog: true, Log.Poison: null };

    /// <inheritdoc/>
    public IDisk? Disk => keeper?.Files.Disk;

    /// <inheritdoc/>
    public Backlog Backlog => backlog;

    /// <summary>Raised on a writer's thread when the log has advanced.</summary>
    internal event Action? Advanced;

    /// <summary>From here on the store's changes go to the log, in a term of their own, which is durable before it is used.</summary>
    internal void Lead(AofStart start)
    {
        keeper?.Files.RaiseTerm(start.Term);
        start = history.Begin(start);
        AppendOnlyLog log = Fresh(start.LastHeaderCrcs.Count);
        log.Start(start);
        Volatile.Write(ref _last, start.LastBatch);
        _leads = true;
        Put(log, start.Term);
        store.SetLog(log);
        if (start.Term > start.LastTerm)
            log.MarkTerm(); // a token taken now can be waited for before anything is written
    }

    /// <summary>The same behind a place, in that term.</summary>
    internal void LeadFrom(LogPosition at, uint term) =>
        Lead(new AofStart(term, at.Batch, at.Crcs, OwnLayout.Lanes, OwnLayout.HashSeed) { LastTerm = at.Term });

    /// <summary>Without a log, changes are counted from here on, where there is a directory to save them in.</summary>
    internal void Count()
    {
        if (keeper?.Counter is { } counter)
            store.SetLog(counter);
    }

    /// <summary>The data are loaded and will be a primary's, who has not been heard of yet: what is here can be read, and gone on from.</summary>
    internal void Resume(AofStart start)
    {
        backlog.Continue(start.Position, start.Filled);
        applied.Begin(start.Position, start.SealedUnixUs);
    }

    /// <summary>Stops the log of a primary that is to follow: until its own primary is heard of, what was written here is what can be read.</summary>
    internal void Yield()
    {
        LogPosition at = Stop();
        if (Current is not null)
            applied.Begin(at, 0);
    }

    /// <summary>Fills the store, which is empty, with what this server's disk has. Where it goes on.</summary>
    internal AofStart ReadBack() => keeper!.ReadBack(store);

    /// <summary>A snapshot for this server's own disk, if one is being taken, is of no use any more.</summary>
    internal void InterruptSaves() => keeper?.Saves?.Interrupt();

    /// <inheritdoc/>
    public void Follow(AofStart start)
    {
        Stop();
        AppendOnlyLog log = Fresh(start.LastHeaderCrcs.Count);
        log.Follow(start);
        Put(log, ledTerm: 0);
    }

    /// <summary>The batch that ends with all that has been written so far, of the log that leads or of the last one that did; 0 if none did.</summary>
    internal ulong EndBatch() => store.EndBatch() is > 0 and var batch ? batch : Volatile.Read(ref _last);

    /// <summary>
    /// Stops the log. Where a log ends that failed is no place of the data, of which it may lack the end: then what is returned agrees with
    /// nobody's, and whoever follows gets everything.
    /// </summary>
    public LogPosition Stop()
    {
        if (_leads)
            Volatile.Write(ref _last, store.EndBatch());
        store.SetLog(null);
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
        InterruptSaves();
        Stop();
        if (keeper is { HasLog: true } && !keeper.Files.TryCutBehind(to))
            return false;
        backlog.Rewind(to);
        return true;
    }

    /// <summary>Ends what no directory ends.</summary>
    internal void End()
    {
        if (!HasDisk)
            Current?.Stop();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _retired?.Dispose();
        if (!HasDisk)
            Current?.Dispose();
    }

    private AppendOnlyLog Fresh(int sublogs)
    {
        AppendOnlyLog log = keeper is { HasLog: true }
            ? keeper.Log.New(sublogs, _lost)
            : new AppendOnlyLog(new AofSettings { Sublogs = Math.Max(sublogs, 1), Sync = SyncPolicy.No }, new NullDisk(), clock, backlog);
        log.Attach(store);
        log.Advanced += () => Advanced?.Invoke();
        return log;
    }

    // Others may be looking at the one before for a moment; it is given back when it has been out of use for a whole role.
    private void Put(AppendOnlyLog log, uint ledTerm)
    {
        _retired?.Dispose();
        _retired = Current;
        Volatile.Write(ref _current, log);
        if (keeper is { HasLog: true })
            keeper.Log.Take(log, ledTerm);
    }
}
