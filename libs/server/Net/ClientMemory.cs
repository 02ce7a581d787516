using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Net;

/// <summary>
/// What a reactor's clients hold in requests, replies, transactions and subscriptions, and <c>maxmemory-clients</c>: while all
/// reactors' clients together are over it, the largest that CLIENT NO-EVICT does not protect is given up, by the reactor it is on.
/// Looked at with every tick: between two of them the sum may be over the limit.
/// </summary>
internal sealed class ClientMemory(Reactor reactor)
{
    private long _bytes;
    private long _largestBytes; // of those that may go
    private Connection? _largest;

    internal void Bound()
    {
        ServerContext server = reactor.Server;
        if (server.Settings.Memory.ClientsShare.Of(server.MemoryLimitBytes) is not (> 0 and var limit))
            return;
        for (Measure(); _largest is { } largest && IsOurs(limit); Measure())
        {
            reactor.Figures.EvictedClients++;
            server.Log.ClientEvicted(largest.Id, largest.Peer.Remote, largest.MemoryBytes);
            reactor.Close(largest);
        }

        _largest = null;
    }

    private void Measure()
    {
        long sum = 0, most = 0;
        _largest = null;
        reactor.CloseWhere(
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
        Volatile.Write(ref _bytes, sum);
        Volatile.Write(ref _largestBytes, most);
    }

    // Over the limit, and no other reactor has a larger one.
    private bool IsOurs(long limit)
    {
        long all = 0;
        foreach (Reactor other in reactor.Server.Workers)
        {
            all += Volatile.Read(ref other.ClientMemory._bytes);
            if (Volatile.Read(ref other.ClientMemory._largestBytes) > _largestBytes)
                return false;
        }

        return all > limit;
    }
}
