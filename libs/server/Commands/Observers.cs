using Garnet.Server.Blocking;
using Garnet.Server.Clients;
using Garnet.Server.PubSub;
using Garnet.Server.Tracking;
using Garnet.Server.Transactions;

namespace Garnet.Server.Commands;

/// <summary>Who is told of changes: of keys, or by messages.</summary>
internal sealed class Observers
{
    internal Observers(ServerCore core)
    {
        var listeners = new KeyListeners();
        Listeners = listeners;
        Tracker = new Tracker(core.Settings.Inspect, core.Workers, listeners.Trackers);
        Watches = new WatchTable(core.Store, core.Clock, listeners.Watchers);
        Waits = new WaitTable(core.Store, listeners.Waiters);
        Events = new KeyEvents(core.Settings.Inspect, Channels);
        Changes = new KeyChanges(core.Store, listeners, Watches, Waits, Tracker, Events) { Workers = core.Workers };
        core.Table.OnSet("notify-keyspace-events", Changes.Listen);
        core.Table.OnSet("tracking-table-max-keys", Tracker.Fit);
        Changes.Listen();
    }

    internal Channels Channels { get; } = new();

    /// <summary>Who wants to be told of changes of keys.</summary>
    internal KeyListeners Listeners { get; }
    internal KeyChanges Changes { get; }
    internal Tracker Tracker { get; }
    internal WatchTable Watches { get; }
    internal WaitTable Waits { get; }
    internal KeyEvents Events { get; }

    /// <summary>True while every change is handed on right after its command.</summary>
    internal bool PerCommand => Changes.PerCommand;

    /// <summary>The server's worker whose thread this is; null if it is another thread.</summary>
    internal Worker? ThreadsWorker => Changes.ThreadsWorker;

    /// <summary>The changes of keys on the worker's thread are its own from here on.</summary>
    internal void Claim(Worker worker) => Changes.Claim(worker);

    /// <summary>Hands on what the commands of a batch changed.</summary>
    internal void HandOn(Worker worker) => Changes.HandOn(worker);

    /// <summary>
    /// Hands on what a command that came to nothing has changed all the same (net.R8), what had expired, and what commands of the batch before it
    /// changed; not what it looked for in vain.
    /// </summary>
    internal void HandOnOfFailed(Worker worker)
    {
        worker.Told.Clear();
        worker.Notes.RemoveAll(static note => note.Missed);
        if (worker.Notes.Count > 0)
            Changes.HandOn(worker);
    }

    /// <summary>All data has been replaced.</summary>
    internal void Flushed(Worker from) => Tracker.Flushed(from);

    /// <summary>Takes a closing client out of all of them; on its reactor's thread.</summary>
    internal void Forget(Connection client)
    {
        Channels.Forget(client);
        Tracker.Disable(client);
        Watches.EndTransaction(client);
    }
}
