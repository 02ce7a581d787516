using Garnet.Server.Net;
using Garnet.Server.Tracking;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Types.Hashes;

/// <summary>
/// Removes fields whose time has come. They are hidden at once; this gives their memory back and ends a hash that has nothing else
/// left: the first reactor walks over the databases, some records every tick, until a whole walk meets no hash that ever had
/// a field with an expiry. Only where the server decides about expiry itself: a replica is told.
/// </summary>
internal sealed unsafe class FieldReaper(Server server)
{
    private const int RecordsPerTick = 2000, FieldsPerHash = 512;

    private static readonly KeyEvent Expired = new("hexpired", NotifyClasses.Hash);

    private readonly List<byte[]> _found = [];
    private volatile bool _isActive = server.Keeper is not null;
    private int _database;
    private ulong _cursor;
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
        var finder = new HashFinder(_found);
        uint ns = server.Store.Namespaces.Id(_database);
        _cursor = reactor.Session.Scan(ns, _cursor, RecordsPerTick, ref finder);
        _sawAny |= _found.Count > 0;
        foreach (byte[] key in _found)
            Reap(reactor, key, ns);
        _found.Clear();
        reactor.Held.TakeBatch();
        server.Changes.HandOnServed(reactor, Expired);
        if (reactor.Broadcasts.Count > 0)
            server.Tracker.Broadcast(reactor);
        if (_cursor != 0 || ++_database < server.Settings.Memory.Databases)
            return;
        _database = 0;
        _isActive = Interlocked.Exchange(ref _woken, 0) != 0 | _sawAny;
        _isActive |= Volatile.Read(ref _woken) != 0; // who woke it just now saw it still active
        _sawAny = false;
    }

    private static void Reap(Reactor reactor, byte[] name, uint ns)
    {
        fixed (byte* bytes = name)
        {
            KeyRef key = reactor.Store.Key(bytes, name.Length - SlackBytes, ns);
            var due = new DueFields();
            reactor.Session.Lock([key]);
            reactor.Session.Examine(in key, ref due, quiet: true);
            if (due.Names.Count > 0)
            {
                Operands.TryDecode(new ReadOnlySpan<byte>(due.Names.Head, due.Names.Count), out Operands names);
                var remove = new RemoveMembers { Kind = RecordKind.Hash, Keys = names };
                reactor.Session.Edit(in key, ref remove);
            }

            reactor.Session.Unlock();
            due.Names.Free();
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

    private struct DueFields : IExamine
    {
        internal ByteQueue Names;

        public void Look(ref RecordEdit record)
        {
            if (record.Kind != RecordKind.Hash)
                return;
            int left = FieldsPerHash;
            var walk = default(MemberWalk);
            while (left > 0 && walk.Next(ref record, EntryForm.Pair))
            {
                if (!walk.Current.IsDue(record.NowMs))
                    continue;
                OperandText.Append(ref Names, walk.Current.KeySpan);
                left--;
            }
        }
    }
}
