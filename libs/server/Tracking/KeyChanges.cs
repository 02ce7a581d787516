using Garnet.Server.Net;
using Tsavorite;

namespace Garnet.Server.Tracking;

/// <summary>
/// Listens to the store's changes while somebody wants to know, and hands them on outside of its locks.
///
/// N1  A change is noted on the thread that makes it: a reactor's notes belong to that reactor, which hands them on after the
///     command, in order; what the store's own thread changes (expiry, eviction) is handed on by the first reactor.
/// N2  While nobody listens the store does not call, and nothing here costs anything.
/// </summary>
internal sealed class KeyChanges(Server server) : IKeyObserver
{
    [ThreadStatic]
    private static Reactor? _threadsReactor;

    private readonly Lock _gate = new();
    private List<KeyNote> _foreign = [];

    /// <summary>True while the store is listened to.</summary>
    internal bool Listening { get; private set; }

    /// <summary>Says that the calling thread is the reactor's.</summary>
    internal static void Claim(Reactor reactor) => _threadsReactor = reactor;

    /// <summary>Begins or ends to listen.</summary>
    internal void Listen(bool on)
    {
        Listening = on;
        server.Store.Observe(on ? this : null);
    }

    /// <inheritdoc/>
    public void OnChange(in KeyRef key, KeyChange change)
    {
        if (_threadsReactor is { } reactor && reactor.Server == server)
        {
            reactor.Notes.Add(new KeyNote(key.Span.ToArray(), key.Namespace, change, reactor.Running));
            return;
        }

        lock (_gate)
        {
            _foreign.Add(new KeyNote(key.Span.ToArray(), key.Namespace, change, null));
            if (_foreign.Count > 1 || server.Reactors.Count == 0)
                return;
        }

        server.Reactors[0].Post(static (owner, _, content) => ((KeyChanges)content!).HandOnForeign(owner), null, this);
    }

    /// <summary>Hands on what the reactor's last command changed.</summary>
    internal void HandOn(Reactor reactor)
    {
        List<KeyNote> notes = reactor.Notes;
        HandOn(reactor, notes);
        notes.Clear();
    }

    private void HandOnForeign(Reactor reactor)
    {
        List<KeyNote> notes;
        lock (_gate)
            (notes, _foreign) = (_foreign, []);
        HandOn(reactor, notes);
        server.Tracker.Broadcast(reactor);
    }

    private void HandOn(Reactor reactor, List<KeyNote> notes)
    {
        foreach (KeyNote note in notes)
            server.Tracker.Changed(reactor, note);
    }
}
