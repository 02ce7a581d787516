using Garnet.Server.Blocking;
using Garnet.Server.Clients;
using Garnet.Server.Transactions;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Tracking;

/// <summary>
/// Listens to the store's changes while somebody wants to know, and hands them on outside of its locks: to who tracks keys, to who
/// watches them (at once, see <see cref="WatchTable"/>) or waits for them (<see cref="WaitTable"/>), and as keyspace events.
///
/// tracking.N1  A change is noted on the thread that makes it: a reactor's notes belong to that reactor, which hands them on after the
///     command, in order; what the store's own thread changes (expiry, eviction) is handed on by the first reactor.
/// tracking.N2  While nobody listens the store does not call, and nothing here costs anything.
/// tracking.N4  Who begins to listen is told from then on: <see cref="Listeners"/>, rules N of the store.
/// </summary>
internal sealed class KeyChanges : IKeyObserver, IServedKeys
{
    [ThreadStatic]
    private static Worker? _threadsWorker;

    [ThreadStatic]
    private static KeyChanges? _threadsChanges;

    private static readonly KeyEvent FieldsExpired = new("hexpired", NotifyClasses.Hash);
    private static readonly KeyEvent MembersExpired = new("zexpired", NotifyClasses.SortedSet);

    private readonly Store _store;
    private readonly KeyListeners _listeners;
    private readonly WatchTable _watches;
    private readonly WaitTable _waits;
    private readonly Tracker _tracker;
    private readonly KeyEvents _events;
    private readonly Lock _gate = new();
    private List<KeyNote> _foreign = [];
    private bool _flushed;

    private volatile bool _telling;
    private volatile bool _unasked;
    private volatile bool _perCommand;

    internal KeyChanges(Store store, KeyListeners listeners, WatchTable watches, WaitTable waits, Tracker tracker, KeyEvents events)
    {
        (_store, _listeners, _watches, _waits, _tracker, _events) = (store, listeners, watches, waits, tracker, events);
        listeners.Turned = Turn;
    }

    /// <summary>The workers. The first of them hands on changes made on no worker's thread (expiry, eviction).</summary>
    internal required WorkerSet Workers { get; init; }

    /// <summary>True while clients track keys, or commands have events: then every change is handed on right after its command.</summary>
    internal bool PerCommand => _perCommand;

    /// <summary>True while commands have events.</summary>
    internal bool Tells => _telling;

    /// <summary>The server's worker whose thread this is; null if it is another thread.</summary>
    internal Worker? ThreadsWorker => _threadsChanges == this ? _threadsWorker : null;

    /// <summary>Says that the calling thread is the worker's.</summary>
    internal void Claim(Worker worker) => (_threadsChanges, _threadsWorker) = (this, worker);

    // Entries that are removed because they have expired are no part of the command that runs: they have an event of their own (hexpired and the like).
    private static KeyEvent? OfDueEntries(RecordKind? kind) => kind switch
    {
        null => null,
        RecordKind.Hash => FieldsExpired,
        _ => MembersExpired,
    };

    /// <summary>Looks at the setting for events again.</summary>
    internal void Listen()
    {
        lock (_listeners.Turns)
            Turn();
    }

    /// <inheritdoc/>
    public void OnChange(in KeyRef key, KeyChange change)
    {
        int database = _store.DatabaseOf(key.Namespace);
        if (database is < 0 or NamespaceTable.Reserved)
            return; // no client can see the key: it is the server's own, or a snapshot is being loaded beside the data that are served
        if (_listeners.Watchers.IsOn)
            _watches.OnChange(key, change);
        if (_listeners.Waiters.IsOn && _waits.OnChange(key, change) is { } queue)
            NoteReady(queue);
        bool unasked = change is KeyChange.Expired or KeyChange.Evicted;
        if (!_listeners.Trackers.IsOn && !(unasked ? _unasked : _telling))
            return;
        var note = new KeyNote(key.Span.ToArray(), database, change, null, Told: OfDueEntries(DueEntries.RemovingFrom));
        if (ThreadsWorker is { } worker)
        {
            worker.Notes.Add(note with { Origin = worker.Running });
            return;
        }

        lock (_gate)
        {
            _foreign.Add(note);
            if (_foreign.Count > 1 || Workers.First is null)
                return;
        }

        Workers.First!.Post(static (owner, _, content) => ((KeyChanges)content!).HandOnForeign(owner), null, this);
    }

    /// <inheritdoc/>
    public void OnFlush(int database)
    {
        _watches.OnFlush(database);
        OnMany(database, database);
        if (database < NamespaceTable.Reserved)
            NoteFlush();
    }

    /// <inheritdoc/>
    public void OnSwap(int first, int second)
    {
        _watches.OnSwap(first, second);
        OnMany(first, second);
        if (Math.Max(first, second) < NamespaceTable.Reserved)
            NoteFlush();
    }

    private void OnMany(int first, int second)
    {
        if (_listeners.Waiters.IsOn && ThreadsWorker is { } worker)
            ReadyKeys.Of(worker).AddAll(first, second);
    }

    /// <summary>Hands on what the commands of a batch changed, if not each has done so, and all of it to those who want it by prefix.</summary>
    internal void HandOn(Worker worker)
    {
        HandOn(worker, worker.Notes);
        worker.Notes.Clear();
        _tracker.Broadcast(worker);
    }

    /// <summary>Hands on changes that no command of the batch made: what clients who waited were given, and what was removed because it had expired.</summary>
    internal void HandOnServed(Worker worker, KeyEvent? told = null)
    {
        foreach (KeyNote note in worker.Notes)
        {
            _tracker.Changed(worker, note);
            _events.PublishServed(worker, note, note.Told ?? told);
            if (note.Told is null && note.Change is not (KeyChange.Expired or KeyChange.Evicted))
                told = told?.Taken ?? told;
        }

        worker.Notes.Clear();
    }

    /// <inheritdoc/>
    void IServedKeys.OnServed(Worker worker, KeyEvent? told)
    {
        if (worker.Notes.Count > 0 && PerCommand)
            HandOnServed(worker, told);
    }

    // Somebody has begun or ceased to listen, or the setting has changed. Runs under the lock of the turns, so that of two such calls the later one counts.
    private void Turn()
    {
        NotifyClasses classes = _events.Classes;
        _telling = classes.Publishes(NotifyClasses.Commands | NotifyClasses.Expired);
        _unasked = classes.Publishes(NotifyClasses.Expired | NotifyClasses.Evicted);
        _perCommand = _listeners.Trackers.IsOn || _telling;
        _store.Observe(_listeners.Trackers.IsOn || _listeners.Watchers.IsOn || _listeners.Waiters.IsOn || _telling || _unasked ? this
            : null);
    }

    // Changes made by a thread that is no reactor (a log that is read back, an import) are handed on by the first reactor.
    private void NoteReady(KeyQueue queue)
    {
        if (ThreadsWorker is { } worker)
            ReadyKeys.Of(worker).Add(queue);
        else if (Workers.First is { } first)
            ReadyKeys.ServeOn(first, queue);
    }

    // A flush that no command has made, as when a replica takes its primary's data over: FLUSHALL tells those who track itself. Telling them
    // under the locks is not too early, as nobody reads before these are released.
    private void NoteFlush()
    {
        if (ThreadsWorker is { Running: not null } || !_listeners.Trackers.IsOn)
            return;
        lock (_gate)
        {
            if (_flushed || Workers.First is null)
                return;
            _flushed = true;
        }

        Workers.First!.Post(static (owner, _, content) => ((KeyChanges)content!).HandOnFlush(owner), null, this);
    }

    private void HandOnFlush(Worker worker)
    {
        lock (_gate)
            _flushed = false;
        _tracker.Flushed(worker);
    }

    private void HandOnForeign(Worker worker)
    {
        List<KeyNote> notes;
        lock (_gate)
            (notes, _foreign) = (_foreign, []);
        HandOn(worker, notes);
        _tracker.Broadcast(worker);
    }

    private void HandOn(Worker worker, List<KeyNote> notes)
    {
        foreach (KeyNote note in notes)
        {
            _tracker.Changed(worker, note);
            _events.PublishUnasked(worker, note);
        }
    }
}
