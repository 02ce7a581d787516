using Garnet.Server.Blocking;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
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
internal sealed class KeyChanges : IKeyObserver
{
    [ThreadStatic]
    private static Executor? _threadsWorker;

    private static readonly KeyEvent FieldsExpired = new("hexpired", NotifyClasses.Hash), MembersExpired = new("zexpired", NotifyClasses.SortedSet);

    private readonly ServerContext _server;
    private readonly Lock _turns = new();
    private readonly Lock _gate = new();
    private List<KeyNote> _foreign = [];

    private volatile bool _telling;
    private volatile bool _unasked;
    private volatile bool _perCommand;

    internal KeyChanges(ServerContext server)
    {
        _server = server;
        Trackers = new Listeners(_turns, Turn);
        Watchers = new Listeners(_turns, Turn);
        Waiters = new Listeners(_turns, Turn);
    }

    /// <summary>True while clients track keys, or commands have events: then every change is handed on right after its command.</summary>
    internal bool PerCommand => _perCommand;

    /// <summary>Clients that track keys.</summary>
    internal Listeners Trackers { get; }

    /// <summary>Clients that watch keys.</summary>
    internal Listeners Watchers { get; }

    /// <summary>Commands that wait for keys.</summary>
    internal Listeners Waiters { get; }

    /// <summary>Says that the calling thread is the reactor's.</summary>
    internal static void Claim(Executor worker) => _threadsWorker = worker;

    /// <summary>True if the calling thread is none of the server's reactors, or has the turn alone (scripting.G4).</summary>
    internal static bool IsAlone(ServerContext server) =>
        _threadsWorker is not { } worker || worker.Server != server || server.ScriptGate.IsHeldBy(worker);

    // What is due goes beside the command that runs, and is told of by a name of its own.
    private static KeyEvent? OfDueEntries(RecordKind? kind) => kind switch
    {
        null => null,
        RecordKind.Hash => FieldsExpired,
        _ => MembersExpired,
    };

    /// <summary>Looks at the setting for events again.</summary>
    internal void Listen()
    {
        lock (_turns)
            Turn();
    }

    /// <inheritdoc/>
    public void OnChange(in KeyRef key, KeyChange change)
    {
        int database = _server.Store.DatabaseOf(key.Namespace);
        if (database is < 0 or NamespaceTable.Reserved)
            return; // nobody sees it: of the server's own, or loaded beside what is shown
        if (Watchers.IsOn)
            _server.Watches.OnChange(key, change);
        if (Waiters.IsOn && _server.Waits.OnChange(key, change) is { } queue)
            NoteReady(queue);
        bool unasked = change is KeyChange.Expired or KeyChange.Evicted;
        if (!Trackers.IsOn && !(unasked ? _unasked : _telling))
            return;
        var note = new KeyNote(key.Span.ToArray(), database, change, null, Told: OfDueEntries(DueEntries.RemovingFrom));
        if (_threadsWorker is { } worker && worker.Server == _server)
        {
            worker.Notes.Add(note with { Origin = worker.Running });
            return;
        }

        lock (_gate)
        {
            _foreign.Add(note);
            if (_foreign.Count > 1 || _server.Workers.Count == 0)
                return;
        }

        _server.Workers[0].Post(static (owner, _, content) => ((KeyChanges)content!).HandOnForeign(owner), null, this);
    }

    /// <inheritdoc/>
    public void OnFlush(int database)
    {
        _server.Watches.OnFlush(database);
        OnMany(database, database);
    }

    /// <inheritdoc/>
    public void OnSwap(int first, int second)
    {
        _server.Watches.OnSwap(first, second);
        OnMany(first, second);
    }

    private void OnMany(int first, int second)
    {
        if (Waiters.IsOn && _threadsWorker is { } worker && worker.Server == _server)
            worker.Ready.AddAll(first, second);
    }

    /// <summary>Before a command runs of whose changes each is handed on by itself.</summary>
    internal void BeforeRun(ref Call call, CommandSpec spec)
    {
        if (_telling)
            _server.Events.BeforeRun(ref call, spec);
    }

    /// <summary>After it has run.</summary>
    internal void AfterRun(ref Call call, CommandSpec spec, bool failed)
    {
        List<KeyNote> notes = call.Worker.Notes;
        if (notes.Count == 0)
        {
            call.Worker.Told.Clear();
            return;
        }

        foreach (KeyNote note in notes)
        {
            if (!note.Missed)
                _server.Tracker.Changed(call.Worker, note);
        }

        _server.Events.AfterRun(ref call, spec, failed);
        notes.Clear();
        call.Worker.Told.Clear();
    }

    /// <summary>Hands on what the commands of a batch changed, if not each has done so.</summary>
    internal void HandOn(Worker worker)
    {
        HandOn(worker, worker.Notes);
        worker.Notes.Clear();
    }

    /// <summary>Hands on what has changed beside the commands, by serving those who waited or by removing what was due.</summary>
    internal void HandOnServed(Worker worker, KeyEvent? told = null)
    {
        foreach (KeyNote note in worker.Notes)
        {
            _server.Tracker.Changed(worker, note);
            _server.Events.PublishServed(worker, note, note.Told ?? told);
        }

        worker.Notes.Clear();
    }

    // One of those who listen, or the setting, has changed; under the lock of the turns: the last to come sets what is true.
    private void Turn()
    {
        NotifyClasses classes = _server.Settings.Inspect.NotifyClasses;
        _telling = classes.Publishes(NotifyClasses.Commands | NotifyClasses.Expired);
        _unasked = classes.Publishes(NotifyClasses.Expired | NotifyClasses.Evicted);
        _perCommand = Trackers.IsOn || _telling;
        _server.Store.Observe(Trackers.IsOn || Watchers.IsOn || Waiters.IsOn || _telling || _unasked ? this : null);
    }

    // What another thread writes (a log read back, an import) is served by the first reactor.
    private void NoteReady(KeyQueue queue)
    {
        if (_threadsWorker is { } worker && worker.Server == _server)
            worker.Ready.Add(queue);
        else if (_server.Workers.Count > 0)
            _server.Workers[0].Post(static (owner, _, content) => ((Executor)owner).Ready.ServeNow((KeyQueue)content!), null, queue);
    }

    private void HandOnForeign(Worker worker)
    {
        List<KeyNote> notes;
        lock (_gate)
            (notes, _foreign) = (_foreign, []);
        HandOn(worker, notes);
        _server.Tracker.Broadcast(worker);
    }

    private void HandOn(Worker worker, List<KeyNote> notes)
    {
        foreach (KeyNote note in notes)
        {
            _server.Tracker.Changed(worker, note);
            _server.Events.PublishUnasked(worker, note);
        }
    }
}
