using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Persistence;
using Garnet.Server.Replication;

namespace Garnet.Server.Net;

/// <summary>
/// A reactor's dealings with the log: replies that must not leave before the log has their changes (on disk under appendfsync
/// always, else with the system, so that the end of the process costs nothing), commands that wait for it, and the word to the
/// log that there is work. The thread never waits: a held connection is stopped (net.R4), its replies stand in its own memory, and
/// the keeper wakes the reactor when the log has advanced. All that a round wrote shares one wait: group commit.
///
/// net.R6  A reply that acknowledges a change leaves only when the batch that holds the change is kept as the policy promises; with
///     aof-durable-reads a reply that shows somebody else's change as well.
/// net.R7  What it waits for is a batch of one log, the one this server led in one term: the numbers of another log say nothing of it. Once
///     its log has ended, the reply leaves if that log kept the batch, else the client is closed.
/// </summary>
internal sealed class HeldReplies(Worker worker, DataKeeper? keeper, NodeHistory history, NodeLog log, Moves moves, ReplySender sender)
{
    private readonly List<Connection> _held = [];
    private ulong _least = ulong.MaxValue; // of the batches they wait for
    private uint _term; // of their log; where there are several, all but the last one have ended
    private ulong _wanted; // a batch that the log is to be told of
    private long _seen;

    /// <summary>Clients whose replies wait.</summary>
    internal int Count => _held.Count;

    /// <summary>The command that has just run changed something, or has seen what others did: its reply, and those after it, wait for that.</summary>
    internal void Note(Connection client)
    {
        ulong written = TakeBatch();
        if (written != 0)
            client.HeldFor = client.LastWrite = Mark(written); // not before what it has seen
        ulong seen = TakeSeen();
        if (seen > client.HeldFor.Batch)
            client.HeldFor = Mark(seen);
    }

    /// <summary>A batch that was open in this round: no other log comes into force before the round ends (replication.Z2).</summary>
    internal LogMark Mark(ulong batch) => new(history.LedTerm, batch);

    /// <summary>The batch of the last change, which the log is told of at the end of the round; 0 if nothing was changed or there is no log.</summary>
    internal ulong TakeBatch()
    {
        ulong batch = worker.Session.LastBatch;
        if (batch == 0)
            return 0;
        worker.Session.LastBatch = 0;
        return _wanted = batch;
    }

    /// <summary>The batch of what was looked at last, if a reply must wait for it, which the log is told of as well; else 0.</summary>
    internal ulong TakeSeen()
    {
        ulong batch = worker.Session.LastSeen;
        if (batch == 0)
            return 0;
        worker.Session.LastSeen = 0;
        if (batch <= (keeper?.Kept ?? ulong.MaxValue))
            return 0;
        _wanted = Math.Max(_wanted, batch);
        return batch;
    }

    /// <summary>Both, as marks of the log in force.</summary>
    internal (LogMark Written, LogMark Seen) TakeMarks() => (Mark(TakeBatch()), Mark(TakeSeen()));

    /// <summary>Once a round, before replies leave: the log learns that there is work.</summary>
    internal void TellLog()
    {
        if (_wanted == 0)
            return;
        ulong batch = _wanted;
        _wanted = 0;
        log.Current?.Demand(batch);
    }

    /// <summary>True if nothing may leave for the client now.</summary>
    internal bool Holds(Connection client)
    {
        if (!client.HeldFor.IsKnown)
            return false;
        if (keeper is not null && !keeper.Log.Keeps(client.HeldFor))
            return true;
        client.HeldFor = default;
        return false;
    }

    /// <summary>Stops the client until the log has advanced.</summary>
    internal void Hold(Connection client)
    {
        if (client.Held)
            return;
        client.Held = true;
        _held.Add(client);
        Expect(client.HeldFor);
        worker.AwaitsLog = true;
    }

    /// <summary>True if the log advanced, or was lost, between the look at it and the notice that somebody waits: nobody would wake the thread.</summary>
    internal bool MissedAdvance()
    {
        if (!worker.AwaitsLog)
            return false;
        Interlocked.MemoryBarrier();
        return _seen != moves.Count
            || (_held.Count > 0 && keeper?.Log is { } kept && (kept.Term != _term || _least <= kept.Kept || kept.Poison is not null));
    }

    /// <summary>Lets go what the log has on disk by now.</summary>
    internal void Release()
    {
        _seen = moves.Count;
        int kept = 0;
        _least = ulong.MaxValue;
        for (int i = 0; i < _held.Count; i++)
        {
            Connection client = _held[i];
            if (client.Closed)
                continue;
            if (keeper is null || keeper.Log.Keeps(client.HeldFor))
                Release(client);
            else if (keeper.Log.HasLost(client.HeldFor))
                worker.Close(client); // what it waits for will never be on disk: it must not hear that it is
            else
                Keep(client, kept++);
        }

        _held.RemoveRange(kept, _held.Count - kept);
        worker.AwaitsLog = worker.ResumeWhere(static waiting => waiting is LogWait) || _held.Count > 0;
    }

    /// <summary>The server stops: what is held is synced first, or not answered.</summary>
    internal void Settle()
    {
        if (keeper is null || _held.Count == 0)
            return;
        keeper.Log.WaitDurable(_held.Max(client => client.HeldFor.Term == keeper.Log.Term ? client.HeldFor.Batch : 0));
        foreach (Connection client in _held)
        {
            if (keeper.Log.IsDurable(client.HeldFor))
                client.Held = false;
            else
                worker.Close(client);
        }

        _held.Clear();
    }

    private void Keep(Connection client, int place)
    {
        _held[place] = client;
        Expect(client.HeldFor);
    }

    private void Expect(LogMark mark)
    {
        _least = Math.Min(mark.Term == _term ? _least : ulong.MaxValue, mark.Batch);
        _term = mark.Term;
    }

    private void Release(Connection client)
    {
        client.Held = false;
        client.HeldFor = default;
        sender.SendKept(client);
    }
}
