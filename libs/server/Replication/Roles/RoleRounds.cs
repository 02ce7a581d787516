using Garnet.Server.Blocking;
using Garnet.Server.Clients;

namespace Garnet.Server.Replication;

/// <summary>What a change of the role asks of every reactor.</summary>
internal static class RoleRounds
{
    private const int LookMs = 100;

    /// <summary>Every reactor has begun a round after the role was changed: no command that was let through before still runs.</summary>
    internal static void Await(WorkerSet workers, Func<bool> stops)
    {
        using var passed = new CountdownEvent(1);
        foreach (Worker worker in workers.All)
        {
            passed.AddCount();
            worker.Post(static (_, _, content) => ((CountdownEvent)content!).Signal(), null, passed);
        }

        passed.Signal();
        while (!passed.Wait(LookMs))
        {
            if (stops())
                return;
        }
    }

    /// <summary>What waits for a key waits for a write that will not come from a client any more: it is told, and may look for the new primary.</summary>
    internal static void Unblock(WorkerSet workers)
    {
        foreach (Worker worker in workers.All)
        {
            worker.Post(static (owner, _, _) =>
                owner.ResumeWhere(static waiting =>
                    waiting is KeyWait && (waiting.TryEnd(WaitEnd.RoleChanged) || waiting.End == WaitEnd.RoleChanged)));
        }
    }
}
