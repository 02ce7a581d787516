using Garnet.Common.Faults;
using Garnet.Server.Clients;
using Garnet.Server.Tracking;
using Garnet.Types.Collections;
using Garnet.Types.Soundness;
using Tsavorite;

namespace Garnet.Server.Expiry;

/// <summary>
/// Removes entries whose time has come, of hashes and sorted sets. They are hidden at once; this gives their memory back and ends a
/// collection that has nothing else left: the first reactor walks over the databases, some records every tick, until a whole walk meets
/// none that ever had an entry with an expiry. A large one is gone through in parts (<see cref="DueEntries"/>): neither a visit, which
/// holds the partition, nor a tick grows with it. Only where the server decides about expiry itself: a replica is told.
/// </summary>
internal sealed unsafe class EntryReaper(ServerCore server, bool mayHaveDue, Func<bool> mayRun, KeyChanges changes, Tracker tracker)
{
    private const int RecordsPerTick = 2000, EntriesPerTick = 20_000;

    private readonly List<byte[]> _found = [];
    private volatile bool _isActive = mayHaveDue;
    private int _database;
    private ulong _cursor;
    private int _nextFound;
    private ulong _entryCursor;
    private bool _sawAny;
    private int _woken;

    /// <summary>True while ticks are needed.</summary>
    internal bool IsActive => _isActive;

    /// <summary>Entries may have been given an expiry.</summary>
    internal void Wake()
    {
        Interlocked.Exchange(ref _woken, 1); // a walk under way may be past it: then it is followed by another
        if (_isActive)
            return;
        _isActive = true;
        server.Workers[0].Nudge();
    }

    /// <summary>Walks on; on the first reactor's thread.</summary>
    internal void Tick(Worker worker)
    {
        if (!_isActive || !mayRun() || server.Store.IsExpiryPaused)
            return;
        uint ns = server.Store.Namespaces.Id(_database);
        if (_found.Count == 0)
        {
            var finder = new Finder(_found);
            _cursor = worker.Session.ScanTimed(ns, _cursor, RecordsPerTick, ref finder);
            _sawAny |= _found.Count > 0;
        }

        ReapFound(worker, ns);
        worker.TakeMarks();
        changes.HandOnServed(worker);
        if (worker.Broadcasts.Count > 0)
            tracker.Broadcast(worker);
        if (_found.Count > 0 || _cursor != 0 || ++_database < server.Settings.Memory.Databases)
            return;
        _database = 0;
        _isActive = Interlocked.Exchange(ref _woken, 0) != 0 | _sawAny;
        _isActive |= Volatile.Read(ref _woken) != 0; // who woke it just now saw it still active
        _sawAny = false;
    }

    private void ReapFound(Worker worker, uint ns)
    {
        int left = EntriesPerTick;
        while (_nextFound < _found.Count)
        {
            if (left <= 0)
                return; // the next tick goes on here
            left -= Reap(worker, _found[_nextFound], ns, ref _entryCursor);
            if (_entryCursor == 0)
                _nextFound++;
        }

        _found.Clear();
        _nextFound = 0;
    }

    // One visit; returns the number of entries seen. What the log does not take (beside other long steps, or since its limit was lowered) stays
    // hidden until the next walk.
    private static int Reap(Worker worker, byte[] name, uint ns, ref ulong cursor)
    {
        fixed (byte* bytes = name)
        {
            KeyRef key = worker.Store.Key(bytes, name.Length - SlackBytes, ns);
            try
            {
                return DueEntries.Remove(worker.Session, in key, ref cursor);
            }
            catch (TooLargeException)
            {
                worker.Session.UnlockTo(0);
                cursor = 0;
                return EntriesPerTick;
            }
        }
    }

    // What hashing a key may read behind it.
    private const int SlackBytes = 16;

    private struct Finder(List<byte[]> found) : IRead
    {
        public void Look(in RecordView record)
        {
            if (!ValueCheck.EntriesMayExpire(record.Kind, record.Value, record.ValueBytes))
                return;
            byte[] key = new byte[record.KeyBytes + SlackBytes];
            record.KeySpan.CopyTo(key);
            found.Add(key);
        }
    }
}
