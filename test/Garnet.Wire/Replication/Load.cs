using System.Globalization;
using System.Net.Sockets;
using Garnet.Common.Test;

namespace Garnet.Wire.Replication;

/// <summary>Clients that write all kinds of things to a server until they are stopped or it is gone.</summary>
internal sealed class Load : IDisposable
{
    private readonly Thread[] _threads;
    private readonly bool _expires;
    private volatile bool _stops;
    private long _written;

    /// <summary>Without keys that expire, nothing is written any more once the clients have stopped.</summary>
    public Load(ReplicaServer server, int seed, int clients = 3, bool expires = true)
    {
        _expires = expires;
        _threads = new Thread[clients];
        for (int i = 0; i < clients; i++)
        {
            var random = new Random(seed + i);
            RespConnection connection = server.Connect();
            _threads[i] = new Thread(() => Run(connection, random));
            _threads[i].Start();
        }
    }

    public long Written => Interlocked.Read(ref _written);

    /// <summary>Waits until so many more writes have been answered.</summary>
    public void Await(long more)
    {
        long until = Written + more;
        Patience.Until(() => Written >= until || _threads.All(static thread => !thread.IsAlive));
    }

    public void Dispose()
    {
        _stops = true;
        foreach (Thread thread in _threads) thread.Await();
    }

    private void Run(RespConnection connection, Random random)
    {
        try
        {
            while (!_stops)
            {
                Step(connection, random);
                Interlocked.Increment(ref _written);
            }
        }
        catch (Exception e) when (e is SocketException or IOException)
        {
            // the server is gone
        }
        finally
        {
            connection.Dispose();
        }
    }

    private void Step(RespConnection connection, Random random)
    {
        string key = $"k{random.Next(300)}", other = $"k{random.Next(300)}";
        string value = new((char)('a' + random.Next(26)), random.Next(10) == 0 ? random.Next(20_000) : random.Next(60));
        switch (random.Next(12))
        {
            case 0: connection.Call("DEL", key, other); break;
            case 1: connection.Call("MSET", key, value, other, value); break;
            case 2: connection.Call("APPEND", key, "+"); break;
            case 3: connection.Call("INCR", $"n{random.Next(20)}"); break;
            case 4 when _expires: connection.Call("SET", key, value, "PX", random.Next(1, 2000).ToString(CultureInfo.InvariantCulture)); break;
            case 5: connection.Call("SET", key, value, "EX", "100000"); break;
            case 6: connection.Call("RENAME", key, other); break;
            case 7: connection.Call("SELECT", random.Next(4) == 0 ? "1" : "0"); break;
            case 8 when random.Next(100) == 0: connection.Call(random.Next(2) == 0 ? "FLUSHDB" : "FLUSHALL"); break;
            case 9 when random.Next(50) == 0: connection.Call("SWAPDB", "0", "1"); break;
            default: connection.Call("SET", key, value); break;
        }
    }
}
