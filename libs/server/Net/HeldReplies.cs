using Garnet.Server.Persistence;

namespace Garnet.Server.Net;

/// <summary>
/// A reactor's dealings with the log: replies that must not leave before the log has their changes (on disk under appendfsync
/// always, else with the system, so that the end of the process costs nothing), commands that wait for it, and the word to the
/// log that there is work. The thread never waits: a held connection is stopped (R4), its replies stand in its own memory, and
/// the keeper wakes the reactor when the log has advanced. All that a round wrote shares one wait: group commit.
///
/// R6  A reply that acknowledges a change leaves only when the batch that holds the change is kept as the policy promises; with
///     aof-durable-reads a reply that shows somebody else's change as well.
/// </summary>
internal sealed class HeldReplies(Reactor reactor)
{
    private readonly List<Connection> _held = [];
    private ulong _least = ulong.MaxValue, _most; // of the batches they wait for
    private ulong _wanted; // a batch that the log is to be told of
    private long _seen;

    /// <summary>True while something here waits for the log; read by the keeper's threads.</summary>
    internal volatile bool Waits;

    /// <summary>Clients whose replies wait.</summary>
    internal int Count => _held.Count;

    /// <summary>The command that has just run changed something, or has seen what others did: its reply, and those after it, wait for that.</summary>
    internal void Note(Connection client)
    {
        ulong written = TakeBatch();
        if (written != 0)
            client.HeldFor = client.LastWrite = written; // not before what it has seen
        ulong seen = TakeSeen();
        if (seen > client.HeldFor)
            client.HeldFor = seen;
    }

    /// <summary>The batch of the last change, which the log is told of at the end of the round; 0 if nothing was changed or there is no log.</summary>
    internal ulong TakeBatch()
    {
        ulong batch = reactor.Session.LastBatch;
        if (batch == 0)
            return 0;
        reactor.Session.LastBatch = 0;
        return _wanted = batch;
    }

    /// <summary>The batch of what was looked at last, if a reply must wait for it, which the log is told of as well; else 0.</summary>
    internal ulong TakeSeen()
    {
        ulong batch = reactor.Session.LastSeen;
        if (batch == 0)
            return 0;
        reactor.Session.LastSeen = 0;
        if (batch <= reactor.Server.Kept)
            return 0;
        _wanted = Math.Max(_wanted, batch);
        return batch;
    }

    /// <summary>Once a round, before replies leave: the log learns that there is work.</summary>
    internal void TellLog()
    {
        if (_wanted == 0)
            return;
        ulong batch = _wanted;
        _wanted = 0;
        reactor.Server.Replication.Node.Current?.Demand(batch);
    }

    /// <summary>True if nothing may leave for the client now.</summary>
    internal bool Holds(Connection client)
    {
        if (client.HeldFor == 0)
            return false;
        if (reactor.Server.Keeper is { } keeper && client.HeldFor > keeper.Kept)
            return true;
        client.HeldFor = 0; // another history, got by a full copy, may have lower numbers
        return false;
    }

    /// <summary>Stops the client until the log has advanced.</summary>
    internal void Hold(Connection client)
    {
        if (client.Held)
            return;
        client.Held = true;
        _held.Add(client);
        _least = Math.Min(_least, client.HeldFor);
        _most = Math.Max(_most, client.HeldFor);
        Waits = true;
    }

    /// <summary>True if the log advanced, or was lost, between the look at it and the notice that somebody waits: nobody would wake the thread.</summary>
    internal bool MissedAdvance()
    {
        if (!Waits)
            return false;
        Interlocked.MemoryBarrier();
        Server server = reactor.Server;
        return _seen != server.Replication.Moves
            || (_held.Count > 0 && (_least <= server.Kept || server.Keeper is { Poison: not null }));
    }

    /// <summary>Lets go what the log has on disk by now.</summary>
    internal void Release()
    {
        _seen = reactor.Server.Replication.Moves;
        ulong written = reactor.Server.Kept;
        bool lost = reactor.Server.Keeper is { Poison: not null };
        int kept = 0;
        (_least, _most) = (ulong.MaxValue, 0);
        for (int i = 0; i < _held.Count; i++)
        {
            Connection client = _held[i];
            if (client.Closed)
                continue;
            if (client.HeldFor <= written)
                Release(client);
            else if (lost)
                reactor.Close(client); // what it waits for will never be on disk: it must not hear that it is
            else
                Keep(client, kept++);
        }

        _held.RemoveRange(kept, _held.Count - kept);
        Waits = reactor.Waiting.Resume(static waiting => waiting is LogWait) || _held.Count > 0;
    }

    /// <summary>The server stops: what is held is synced first, or not answered.</summary>
    internal void Settle()
    {
        if (_held.Count == 0)
            return;
        reactor.Server.Keeper!.WaitDurable(_most);
        foreach (Connection client in _held)
        {
            if (client.HeldFor > reactor.Server.Keeper.Durable)
                reactor.Close(client);
        }

        _held.Clear();
    }

    private void Keep(Connection client, int place)
    {
        _held[place] = client;
        _least = Math.Min(_least, client.HeldFor);
        _most = Math.Max(_most, client.HeldFor);
    }

    private void Release(Connection client)
    {
        client.Held = false;
        client.HeldFor = 0;
        reactor.Sender.SendKept(client);
    }
}
