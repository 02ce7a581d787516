using Garnet.Server.Clients;

namespace Garnet.Server.Replication;

/// <summary>Grows whenever something that a client may wait for has moved: a batch applied, an acknowledgement, a role. From any thread.</summary>
internal sealed class Moves(WorkerSet workers)
{
    private long _count;

    /// <summary>So many so far.</summary>
    internal long Count => Volatile.Read(ref _count);

    /// <summary>Something has moved.</summary>
    internal void Tell()
    {
        Interlocked.Increment(ref _count);
        workers.NudgeWaiting();
    }
}
