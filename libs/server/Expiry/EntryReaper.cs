using Garnet.Common;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Tracking;
using Garnet.Types.Collections;
using Garnet.Types.Soundness;
using Tsavorite;

namespace Garnet.Server.Expiry;

/// <summary>
/// Removes entries whose time has come, of hashes and sorted sets. They are hidden at once; this gives their memory back and ends a
/// collection that has nothing else left: the first reactor walks over the databases, some records every tick. A whole walk learns when the first
/// entry is due that it has met (<see cref="TimedPass"/>, <see cref="LargeTimes"/>), and the next one begins then, or when an entry is given an expiry. A large
/// collection is gone through in parts (<see cref="DueEntries"/>): neither a visit, which holds the partition, nor a tick grows with it. Only where the server
/// decides about expiry itself: a replica is told.
/// expiry.E1: looks of the walk are nobody's reads: on the tier they bring nothing back but what is removed from, and a tick begins only so many.
///     What the walk or a visit lacks there is begun to be read, and it goes on once that has come: the reactor serves others meanwhile (<see cref="ReapWait"/>).
/// expiry.E2: what cannot be read is passed over, and tried again later; the walk goes on with the others.
/// </summary>
internal sealed unsafe class EntryReaper(
    Store store, MemorySettings memory, bool mayHaveDue, Func<bool> mayRun, KeyChanges changes, Tracker tracker)
{
    private const int RecordsPerTick = 2000, EntriesPerTick = 20_000;
    // Of the tier, beside as many of the records that the walk comes to; on a slow disk it ends behind the visit that has taken so long.
    private const int ReadsPerTick = 32;
    private const long WaitPerTickUs = 2_000;

    private readonly List<(byte[] Name, uint Segment)> _found = [];
    private readonly TimedPass _pass = new(store);
    private readonly LargeTimes _times = new();
    private readonly ReapWait _wait = new();
    private readonly uint[] _namespaces = new uint[memory.Databases];
    private volatile bool _isActive = mayHaveDue;
    private long _nextMs = mayHaveDue ? 0 : long.MaxValue;
    private bool _isWalking, _isWhole;
    private int _database;
    private ulong _cursor;
    private int _nextFound;
    private DueVisit _visit;
    private bool _isVisiting;
    private int _woken;

    /// <summary>Wakes the worker that ticks.</summary>
    internal required Action WakeWorker { get; init; }

    /// <summary>True while ticks are needed.</summary>
    internal bool IsActive => _isActive;

    /// <summary>Entries may have been given an expiry, whichever.</summary>
    internal void Wake()
    {
        _times.Forget();
        Rouse();
    }

    /// <summary>Entries of the key may have been given an expiry, whichever.</summary>
    internal void Wake(in KeyRef key)
    {
        _times.Forget(key.Hash);
        Rouse();
    }

    /// <summary>Entries of the key were given that expiry; 0: none were, or they are gone at once.</summary>
    internal void Wake(in KeyRef key, long expireAtMs)
    {
        if (expireAtMs == 0)
            return;
        _times.Tell(key.Hash, expireAtMs);
        Rouse();
    }

    /// <summary>Walks on, if it is time; on the first reactor's thread.</summary>
    internal void Tick(Worker worker)
    {
        if (_wait.IsWaiting(worker.Session.Tier) || !_isActive || !mayRun() || store.IsExpiryPaused || !IsTime(worker.NowMs))
            return;
        SessionTier? tier = worker.Session.Tier;
        if (tier is not null)
            tier.LooksAside = true; // expiry.E1
        try
        {
            Walk(worker);
        }
        finally
        {
            if (tier is not null)
                tier.LooksAside = false;
        }

        worker.TakeMarks();
        changes.HandOnServed(worker);
        if (worker.HasBroadcasts)
            tracker.Broadcast(worker);
        if (_wait.IsBegun || _found.Count > 0 || _cursor != 0 || ++_database < _namespaces.Length)
            return;
        End();
    }

    private void Rouse()
    {
        Interlocked.Exchange(ref _woken, 1); // a walk under way may be past it: then it is followed by another
        if (_isActive)
            return;
        _isActive = true;
        WakeWorker();
    }

    private bool IsTime(long nowMs)
    {
        if (_isWalking)
            return true;
        if (nowMs < _nextMs && Volatile.Read(ref _woken) == 0)
            return false;
        Interlocked.Exchange(ref _woken, 0);
        _pass.Begin(nowMs);
        return _isWalking = _isWhole = true;
    }

    private void Walk(Worker worker)
    {
        uint ns = store.Namespaces.Id(_database);
        if (_cursor == 0 && _found.Count == 0)
            _namespaces[_database] = ns;
        _isWhole &= ns == _namespaces[_database];
        if (_found.Count == 0)
        {
            var scan = new Scan(this, ns, new Finder(_found, _pass, worker.NowMs));
            if (!_wait.Try(worker.Session, ref scan))
                return;
        }

        ReapFound(worker, ns);
    }

    private void End()
    {
        _database = 0;
        _isWalking = false;
        for (int i = 0; i < _namespaces.Length; i++)
            _isWhole &= _namespaces[i] == store.Namespaces.Id(i);
        _nextMs = _isWhole ? _pass.End() : 0; // else two databases have changed places, and one may have been passed over
        _isActive = _nextMs != long.MaxValue;
        _isActive |= Volatile.Read(ref _woken) != 0; // who woke it just now saw it still active
    }

    private void ReapFound(Worker worker, uint ns)
    {
        int left = EntriesPerTick;
        SessionTier? tier = worker.Session.Tier;
        (long begun, long waitedUs) = (tier?.Begun ?? 0, tier?.WaitedUs ?? 0);
        while (_nextFound < _found.Count)
        {
            if (left <= 0 || _wait.IsBegun
                || (tier is not null && (tier.Begun - begun >= ReadsPerTick || tier.WaitedUs - waitedUs >= WaitPerTickUs)))
                return; // the next tick goes on here
            Reap(worker, _found[_nextFound], ns);
            left -= Math.Max(_visit.Seen, 1);
            if (!_isVisiting)
                _nextFound++;
        }

        _found.Clear();
        _nextFound = 0;
    }

    // One visit. What the log does not take (beside other long steps, or since its limit was lowered) stays hidden until the next walk.
    private void Reap(Worker worker, (byte[] Name, uint Segment) found, uint ns)
    {
        fixed (byte* bytes = found.Name)
        {
            KeyRef key = worker.Store.Key(bytes, found.Name.Length - SlackBytes, ns);
            if (!_isVisiting)
            {
                (ulong owner, long fromMs) = _times.Begin(key.Hash);
                _visit = new DueVisit(owner, fromMs);
            }

            long againMs = 0;
            var visit = new Visit(this, key);
            try
            {
                if (!_wait.Try(worker.Session, ref visit))
                {
                    _isVisiting = true; // once more
                    return;
                }
            }
            catch (Exception e) when (Unmet.Is(e) && (worker.Session.Changes & 1) == 0)
            {
                worker.Session.UnlockTo(0); // expiry.E2
                againMs = worker.NowMs + (e is GarnetException ? TimedPass.RetryMs : SoonMs);
                _visit.Cursor = 0;
            }

            _isVisiting = _visit.Cursor != 0;
            if (_isVisiting)
                return;
            if (againMs == 0 && !_times.TryLearn(_visit.Owner, ref _visit.NextMs))
                againMs = worker.NowMs;
            _pass.Found(found.Segment, againMs == 0 ? _visit.NextMs : againMs);
        }
    }

    // What hashing a key may read behind it.
    private const int SlackBytes = 16;
    private const long SoonMs = 1000;

    private struct Scan(EntryReaper reaper, uint ns, Finder finder) : IReapStep
    {
        public void Run(StoreSession session) =>
            reaper._cursor = reaper._pass.Scan(session, ns, reaper._cursor, RecordsPerTick, ref finder);
    }

    private readonly struct Visit(EntryReaper reaper, KeyRef key) : IReapStep
    {
        public void Run(StoreSession session) => DueEntries.Remove(session, in key, ref reaper._visit);
    }

    private readonly struct Finder(List<(byte[] Name, uint Segment)> found, TimedPass pass, long nowMs) : IRead
    {
        public void Look(in RecordView record)
        {
            long fromMs = ValueCheck.EntriesDueFrom(record.Kind, record.Value, record.ValueBytes);
            if (fromMs == long.MaxValue)
                return;
            if (fromMs > nowMs)
            {
                pass.Found(pass.Segment, fromMs);
                return;
            }

            byte[] key = new byte[record.KeyBytes + SlackBytes];
            record.KeySpan.CopyTo(key);
            found.Add((key, pass.Segment));
        }
    }
}
