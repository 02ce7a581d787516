using System.Text;
using Garnet.Server.Net;
using Garnet.Server.PubSub;
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

    private volatile bool _tracking;
    private volatile bool _watching;
    private volatile bool _unasked;

    /// <summary>True while clients track keys: then every change is handed on right after its command.</summary>
    internal bool Tracking => _tracking;

    /// <summary>True while clients watch keys.</summary>
    internal bool Watching => _watching;

    /// <summary>Says that the calling thread is the reactor's.</summary>
    internal static void Claim(Reactor reactor) => _threadsReactor = reactor;

    /// <summary>Begins or ends to listen, as the clients that track or watch and the setting for events have it now.</summary>
    internal void Listen()
    {
        lock (_gate) // who wants what is looked at inside: the last to come sets what is true
        {
            NotifyClasses classes = server.Settings.Inspect.NotifyClasses;
            _tracking = server.Tracker.Clients > 0;
            _watching = server.Watches.Clients > 0;
            _unasked = classes.Publishes(NotifyClasses.Expired) || classes.Publishes(NotifyClasses.Evicted);
            server.Store.Observe(_tracking || _watching || _unasked ? this : null);
        }
    }

    /// <inheritdoc/>
    public void OnChange(in KeyRef key, KeyChange change)
    {
        if (_watching)
            server.Watches.OnChange(key, change);
        if (!_tracking && (change == KeyChange.Written || !_unasked))
            return;
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

    /// <inheritdoc/>
    public void OnFlush(int database) => server.Watches.OnFlush(database);

    /// <inheritdoc/>
    public void OnSwap(int first, int second) => server.Watches.OnSwap(first, second);

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
        {
            server.Tracker.Changed(reactor, note);
            if (note.Change != KeyChange.Written)
                Publish(reactor, note);
        }
    }

    // Keyspace notifications; so far those that no command asks for.
    private void Publish(Reactor reactor, KeyNote note)
    {
        NotifyClasses classes = server.Settings.Inspect.NotifyClasses;
        bool expired = note.Change == KeyChange.Expired;
        if (!classes.Publishes(expired ? NotifyClasses.Expired : NotifyClasses.Evicted) || DatabaseOf(note.Namespace) is not (>= 0 and var database))
            return;
        ReadOnlySpan<byte> name = expired ? "expired"u8 : "evicted"u8;
        byte[] place = Encoding.ASCII.GetBytes($"@{database}__:");
        if ((classes.Bits & NotifyClasses.Keyspace) != 0)
            server.Channels.Publish(reactor, ChannelKind.Channel, [.. "__keyspace"u8, .. place, .. note.Key], name);
        if ((classes.Bits & NotifyClasses.Keyevent) != 0)
            server.Channels.Publish(reactor, ChannelKind.Channel, [.. "__keyevent"u8, .. place, .. name], note.Key);
    }

    private int DatabaseOf(uint ns)
    {
        for (int i = 0; i < server.Settings.Memory.Databases; i++)
        {
            if (server.Store.Namespaces.Id(i) == ns)
                return i;
        }

        return -1; // emptied meanwhile
    }
}
