using Garnet.Server.Net;
using Garnet.Server.Tracking;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Types.Hashes;

/// <summary>
/// Removes fields whose time has come. They are hidden at once; this gives their memory back and ends a hash that has nothing else
/// left: the first reactor walks over the databases, some records every tick, until a whole walk meets no hash that ever had
/// a field with an expiry. A large hash is gone through in pages by a cursor, as HSCAN does: neither a visit, which holds the
/// partition, nor a tick grows with it. Only where the server decides about expiry itself: a replica is told.
/// </summary>
internal sealed unsafe class FieldReaper(Server server)
{
    private const int RecordsPerTick = 2000, FieldsPerTick = 20_000, FieldsPerVisit = 1000;

    private static readonly KeyEvent Expired = new("hexpired", NotifyClasses.Hash);

    private readonly List<byte[]> _found = [];
    private volatile bool _isActive = server.Keeper is not null;
    private int _database;
    private ulong _cursor;
    private int _nextFound;
    private ulong _fieldCursor;
    private bool _sawAny;
    private int _woken;

    /// <summary>True while ticks are needed.</summary>
    internal bool IsActive => _isActive;

    /// <summary>Fields may have been given an expiry.</summary>
    internal void Wake()
    {
        Interlocked.Exchange(ref _woken, 1); // a walk under way may be past the hash: then it is followed by another
        if (_isActive)
            return;
        _isActive = true;
        server.Reactors[0].Nudge();
    }

    /// <summary>Walks on; on the first reactor's thread.</summary>
    internal void Tick(Reactor reactor)
    {
        if (!_isActive || !server.Loaded.IsCompleted || server.Replication.IsReplica)
            return;
        uint ns = server.Store.Namespaces.Id(_database);
        if (_found.Count == 0)
        {
            var finder = new HashFinder(_found);
            _cursor = reactor.Session.Scan(ns, _cursor, RecordsPerTick, ref finder);
            _sawAny |= _found.Count > 0;
        }

        ReapFound(reactor, ns);
        reactor.Held.TakeBatch();
        reactor.Held.TakeSeen();
        server.Changes.HandOnServed(reactor, Expired);
        if (reactor.Broadcasts.Count > 0)
            server.Tracker.Broadcast(reactor);
        if (_found.Count > 0 || _cursor != 0 || ++_database < server.Settings.Memory.Databases)
            return;
        _database = 0;
        _isActive = Interlocked.Exchange(ref _woken, 0) != 0 | _sawAny;
        _isActive |= Volatile.Read(ref _woken) != 0; // who woke it just now saw it still active
        _sawAny = false;
    }

    private void ReapFound(Reactor reactor, uint ns)
    {
        int left = FieldsPerTick;
        while (_nextFound < _found.Count)
        {
            if (left <= 0)
                return; // the next tick goes on here
            left -= Reap(reactor, _found[_nextFound], ns, ref _fieldCursor);
            if (_fieldCursor == 0)
                _nextFound++;
        }

        _found.Clear();
        _nextFound = 0;
    }

    // One visit; returns the number of fields seen.
    private static int Reap(Reactor reactor, byte[] name, uint ns, ref ulong cursor)
    {
        fixed (byte* bytes = name)
        {
            KeyRef key = reactor.Store.Key(bytes, name.Length - SlackBytes, ns);
            var due = new DueFields { Cursor = cursor };
            reactor.Session.Lock([key]);
            if (reactor.Session.Examine(in key, ref due, quiet: true) != Outcome.Done)
                due.Cursor = 0;
            if (due.Names.Count > 0)
            {
                Operands.TryDecode(new ReadOnlySpan<byte>(due.Names.Head, due.Names.Count), out Operands names);
                var remove = new RemoveMembers { Kind = RecordKind.Hash, Keys = names };
                reactor.Session.Edit(in key, ref remove);
            }

            reactor.Session.Unlock();
            due.Names.Free();
            cursor = due.Cursor;
            return due.Seen;
        }
    }

    // What hashing a key may read behind it.
    private const int SlackBytes = 16;

    private struct HashFinder(List<byte[]> found) : IRead
    {
        public void Look(in RecordView record)
        {
            if (record.Kind != RecordKind.Hash || record.ValueBytes == 0 || !Root.Has(record.Value, RootFlags.Expiring))
                return;
            byte[] key = new byte[record.KeyBytes + SlackBytes];
            record.KeySpan.CopyTo(key);
            found.Add(key);
        }
    }

    /// <summary>The due fields of a page: all of a packed hash, some chunks of a large one.</summary>
    private struct DueFields : IExamine
    {
        internal ByteQueue Names;
        internal ulong Cursor;
        internal int Seen;

        public void Look(ref RecordEdit record)
        {
            ulong at = Cursor;
            Cursor = 0;
            if (record.Kind != RecordKind.Hash)
                return;
            if (!Root.IsChunked(record.Value))
            {
                var walk = default(MemberWalk);
                while (walk.Next(ref record, EntryForm.Pair))
                    Offer(walk.Current, record.NowMs);
                return;
            }

            do
            {
                Page page = ChunkedMembers.Open(ref record, MemberWalk.ChunkAt(ref record, at, out at));
                for (int slot = 0; slot < page.Count; slot++)
                    Offer(page.EntryAt(EntryForm.Pair, slot), record.NowMs);
            }
            while (at != 0 && Seen < FieldsPerVisit);
            Cursor = at;
        }

        private void Offer(in Entry entry, long nowMs)
        {
            Seen++;
            if (entry.IsDue(nowMs))
                OperandText.Append(ref Names, entry.KeySpan);
        }
    }
}
