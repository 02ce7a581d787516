using System.Text;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Net;

/// <summary>The parked connections of a reactor, and when the next wait ends by itself.</summary>
internal sealed class WaitingClients(Worker worker, ReplyPath replies, RequestReceiver receiver)
{
    private readonly List<Connection> _clients = [];

    internal int Count => _clients.Count;

    /// <summary>The earliest deadline that has not come; those that have are looked at every tick.</summary>
    internal long NextDeadlineMs { get; private set; } = long.MaxValue;

    internal void Add(Connection client, Parking waiting)
    {
        worker.AwaitsLog |= waiting is LogWait;
        client.Waiting = waiting;
        client.Parked = true;
        if (waiting.DeadlineMs > worker.NowMs)
            NextDeadlineMs = Math.Min(NextDeadlineMs, waiting.DeadlineMs);
        if (client.WaitingAt >= 0)
            return;
        client.WaitingAt = _clients.Count;
        _clients.Add(client);
    }

    internal void Remove(Connection client)
    {
        client.Waiting = null;
        Connection last = _clients[^1];
        _clients[client.WaitingAt] = last;
        last.WaitingAt = client.WaitingAt;
        _clients.RemoveAt(_clients.Count - 1);
        client.WaitingAt = -1;
    }

    /// <summary>Looks at the waiting commands that the condition names; true if some go on waiting.</summary>
    internal bool Resume(Predicate<Parking> condition)
    {
        bool left = false;
        for (int i = _clients.Count - 1; i >= 0; i--)
        {
            if (i >= _clients.Count || _clients[i].Waiting is not { } waiting || !condition(waiting))
                continue;
            Connection client = _clients[i];
            worker.TryResume(client);
            left |= client.Waiting is not null;
        }

        return left;
    }

    /// <summary>Looks at those whose time has come.</summary>
    internal void ResumeDue(long nowMs)
    {
        NextDeadlineMs = long.MaxValue;
        Resume(waiting => IsDue(waiting, nowMs));
    }

    /// <summary>Looks at one: its command has its reply now, or waits on.</summary>
    internal void GoOn(Connection client, Parking waiting)
    {
        replies.SwitchTo(client);
        if (client.Closed)
            return; // it had replies, and its socket was broken: nothing is taken for it
        replies.BeginReply();
        client.Parked = false;
        long before = worker.Out.Mark;
        if (!EndsInError(client, waiting) && !Resumes(client, waiting, before))
        {
            client.Parked = true;
            return;
        }

        replies.Memory.ReplacesLong(client);
        if (waiting.IsSilent || (client.Modes & ClientModes.ReplyOff) != 0)
            worker.Out.TakeBackTo(before);
        Remove(client);
        receiver.Carry(client);
        replies.Watch(client);
    }

    /// <summary>Answers a command whose wait was ended with an error; false if it was not.</summary>
    private bool EndsInError(Connection client, Parking waiting)
    {
        if (waiting.End is not (WaitEnd.Unblocked or WaitEnd.RoleChanged))
            return false;
        client.CloseAfterReply |= waiting.End == WaitEnd.RoleChanged;
        waiting.Abandon(client);
        worker.Out.Error(waiting.End == WaitEnd.Unblocked ? "UNBLOCKED client unblocked via CLIENT UNBLOCK"u8
            : "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)"u8);
        return true;
    }

    // What it cannot have is its own error, as of a command that runs.
    private bool Resumes(Connection client, Parking waiting, long before)
    {
        try
        {
            return waiting.Resume(worker, client);
        }
        catch (Exception e) when (Unmet.Is(e) && (worker.Session.Changes & 1) == 0)
        {
            worker.Session.UnlockTo(0);
            waiting.Abandon(client);
            worker.Out.TakeBackTo(before);
            worker.Out.Error(Encoding.Latin1.GetBytes(Unmet.TextOf(e)));
            return true;
        }
    }

    private bool IsDue(Parking waiting, long nowMs)
    {
        if (waiting.DeadlineMs > nowMs)
            NextDeadlineMs = Math.Min(NextDeadlineMs, waiting.DeadlineMs);
        return waiting.DeadlineMs <= nowMs;
    }
}
