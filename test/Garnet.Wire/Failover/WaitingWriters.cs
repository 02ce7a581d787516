using System.Collections.Concurrent;
using System.Globalization;
using System.Net.Sockets;
using Garnet.Common.Test;

namespace Garnet.Wire.Failover;

/// <summary>
/// Clients that write keys of their own, each key once, to the primary that a Sentinel names, and wait for all its replicas after
/// each: what WAIT confirmed is what they hold the servers to. For all, as a Sentinel chooses by what it has heard of them last, which
/// may be seconds old: of two it can take the one that is behind.
/// </summary>
internal sealed class WaitingWriters : IDisposable
{
    private const int BetweenTriesMs = 10, ConfirmMs = 1000, AnswerMs = 4 * ConfirmMs; // who is not answered by then goes to whoever leads by now

    private readonly ConcurrentQueue<string> _confirmed = new();
    private readonly Thread[] _threads;
    private readonly Func<int> _primary;
    private readonly ManualResetEventSlim _stops = new();

    /// <param name="primary">The port to write to; asked again whenever something went wrong.</param>
    public WaitingWriters(Func<int> primary, int clients = 4)
    {
        _primary = primary;
        _threads = [.. Enumerable.Range(0, clients).Select(client => new Thread(() => Run(client)))];
        foreach (Thread thread in _threads) thread.Start();
    }

    /// <summary>Keys whose value was confirmed; the value is the key.</summary>
    public IReadOnlyCollection<string> Confirmed => _confirmed;

    /// <summary>Waits until so many more writes are confirmed.</summary>
    public bool Await(int more)
    {
        int until = _confirmed.Count + more;
        return SpinWait.SpinUntil(() => _confirmed.Count >= until, SentinelGroup.DeadlineMs);
    }

    public void Dispose()
    {
        if (_stops.IsSet) return;
        _stops.Set();
        foreach (Thread thread in _threads) thread.Await();
        _stops.Dispose();
    }

    private void Run(int client)
    {
        long number = 0;
        do
        {
            try
            {
                using RespConnection connection = new(new System.Net.IPEndPoint(System.Net.IPAddress.Loopback, _primary()), AnswerMs);
                while (!_stops.IsSet && TryWrite(connection, string.Create(CultureInfo.InvariantCulture, $"w{client}.{number}"))) number++;
            }
            catch (Exception e) when (e is SocketException or IOException)
            {
                // the primary is gone, or hangs
            }
            number++; // what happened to the write under way is not known
        }
        while (!_stops.Wait(BetweenTriesMs)); // for seconds there is no primary
    }

    private bool TryWrite(RespConnection connection, string key)
    {
        if (connection.Call("SET", key, key).ToString() != "+OK") return false;
        if (Had(connection, 1) < 1) return true; // not confirmed, and no reason to leave
        int replicas = connection.Call("ROLE").Items![2].Items!.Count;
        if (replicas > 0 && (replicas == 1 || Had(connection, replicas) >= replicas)) _confirmed.Enqueue(key);
        return true;
    }

    // Replicas that have what was written, of so many that are waited for.
    private static int Had(RespConnection connection, int replicas)
    {
        RespNode reply = connection.Call("WAIT", replicas.ToString(CultureInfo.InvariantCulture), ConfirmMs.ToString(CultureInfo.InvariantCulture));
        return reply.Kind == ':' ? int.Parse(reply.Text, CultureInfo.InvariantCulture) : 0;
    }
}
