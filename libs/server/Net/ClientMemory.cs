using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Net;

/// <summary>
/// What a reactor's clients hold in requests, replies, transactions and subscriptions, and <c>maxmemory-clients</c>: while all
/// reactors' clients together are over it, the largest that CLIENT NO-EVICT does not protect is given up, by the reactor it is on.
/// Looked at with every tick: between two of them the sum may be over the limit.
/// </summary>
internal sealed class ClientMemory(Worker worker, WorkerSet workers, ServerSettings settings, ServerLog log, Func<long> memoryLimitBytes)
{
    private Connection? _largest;

    internal void Bound()
    {
        if (settings.Memory.ClientsShare.Of(memoryLimitBytes()) is not (> 0 and var limit))
            return;
        for (Measure(); _largest is { } largest && IsOurs(limit); Measure())
        {
            worker.Figures.EvictedClients++;
            log.ClientEvicted(largest.Id, largest.Peer.Remote, largest.MemoryBytes);
            worker.Close(largest);
        }

        _largest = null;
    }

    private void Measure()
    {
        long sum = 0, most = 0;
        _largest = null;
        worker.Slots.ForEach(
            client =>
            {
                if (client.Closed)
                    return false;
                long bytes = client.MemoryBytes;
                sum += bytes;
                if (!client.NoEvict && bytes > most)
                    (most, _largest) = (bytes, client);
                return false;
            },
            static _ => { });
        Volatile.Write(ref worker.ClientBytes, sum);
        Volatile.Write(ref worker.LargestClientBytes, most);
    }

    // Over the limit, and no other reactor has a larger one.
    private bool IsOurs(long limit)
    {
        long all = 0;
        foreach (Worker other in workers.All)
        {
            all += Volatile.Read(ref other.ClientBytes);
            if (Volatile.Read(ref other.LargestClientBytes) > worker.LargestClientBytes)
                return false;
        }

        return all > limit;
    }
}
