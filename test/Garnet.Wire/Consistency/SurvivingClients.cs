using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Garnet.Common.Test;

namespace Garnet.Wire.Consistency;

/// <summary>
/// Clients of a group whose primaries are killed. A writer goes where the primary is, and takes a write for acknowledged when a replica has
/// it (<c>WAIT 1</c>); what was under way when its server died it looks for on the next one, before it writes on. A reader stays
/// with one server, and writes down what that showed as a replica.
/// </summary>
internal sealed class SurvivingClients : IDisposable
{
    private const int Writers = 3, KeysEach = 4, PatienceMs = 60_000, BetweenTriesMs = 10, BetweenReadsMs = 1;
    private static readonly string[] s_all = [.. Enumerable.Range(0, Writers * KeysEach).Select(static i => KeyOf(i / KeysEach, i % KeysEach))];
    private readonly History _history;
    private readonly Func<int> _primary;
    private readonly bool _waits;
    private readonly List<Thread> _threads = [];
    private readonly ManualResetEventSlim _stops = new();
    private long _begun, _acknowledged, _read;

    /// <param name="history">What they do and see goes here.</param>
    /// <param name="primary">The port to write to.</param>
    /// <param name="waits">False: an OK is believed, and no replica asked for. The promise is not made for that.</param>
    public SurvivingClients(History history, Func<int> primary, bool waits = true)
    {
        (_history, _primary, _waits) = (history, primary, waits);
        for (int writer = 0; writer < Writers; writer++)
        {
            int number = writer;
            Begin(() => WriteAll(number));
        }
    }

    /// <summary>Reads at a server as long as it lives and this does. A server that was started again is another place.</summary>
    public void ReadAt(string place, EndPoint server, int seed) => Begin(() => ReadAll(place, server, new Random(seed)));

    /// <summary>Waits until so many more writes are acknowledged and so many more reads done.</summary>
    public bool Await(int writes, int reads)
    {
        long wantedWrites = Interlocked.Read(ref _acknowledged) + writes, wantedReads = Interlocked.Read(ref _read) + reads;
        return SpinWait.SpinUntil(() => Interlocked.Read(ref _acknowledged) >= wantedWrites && Interlocked.Read(ref _read) >= wantedReads, PatienceMs);
    }

    /// <summary>All keys, read once more on the primary when nobody writes: everything acknowledged must be there.</summary>
    public static void ReadEnd(History history, EndPoint primary)
    {
        using RespConnection connection = new(primary);
        long begin = Now;
        Record(history, "the last primary", begin, s_all, connection.Call(["MGET", .. s_all]).Items!);
    }

    public void Dispose()
    {
        _stops.Set();
        foreach (Thread thread in _threads) thread.Await();
        _stops.Dispose();
    }

    private static long Now => Stopwatch.GetTimestamp();

    private static string KeyOf(int writer, int key) => $"s{writer}.{key}";

    private void Begin(Action body)
    {
        var thread = new Thread(() => body());
        _threads.Add(thread);
        thread.Start();
    }

    private void WriteAll(int writer)
    {
        var random = new Random(writer);
        string[] own = [.. Enumerable.Range(0, KeysEach).Select(key => KeyOf(writer, key))];
        Write? inDoubt = null;
        int number = 0;
        do
        {
            try
            {
                using RespConnection connection = new(new IPEndPoint(IPAddress.Loopback, _primary()));
                if (!TryLookBack(connection, own, ref inDoubt)) continue;
                while (!_stops.IsSet && inDoubt is null)
                {
                    string value = (++number).ToString(CultureInfo.InvariantCulture);
                    (string, string)[] pairs = [.. own.OrderBy(_ => random.Next()).Take(random.Next(1, KeysEach)).Select(key => (key, value))];
                    inDoubt = _history.Begin(Now, pairs);
                    Interlocked.Increment(ref _begun);
                    if (connection.Call(["MSET", .. pairs.SelectMany(static pair => new[] { pair.Item1, pair.Item2 })]).ToString() == "+OK")
                        TryConfirm(connection, ref inDoubt);
                }
            }
            catch (Exception e) when (e is SocketException or IOException)
            {
                // the primary is gone, or not there yet
            }
        }
        while (!_stops.Wait(BetweenTriesMs));
    }

    // What this client knows of its keys must be there behind a write of its own; what is not known is so now.
    private bool TryLookBack(RespConnection connection, string[] own, ref Write? inDoubt)
    {
        long begin = Now;
        if (connection.Call("SET", "fence." + own[0], "1").ToString() != "+OK") return false; // not a primary yet
        IReadOnlyList<RespNode> values = connection.Call(["MGET", .. own]).Items!;
        if (inDoubt is not null)
        {
            (string key, string value) = inDoubt.Pairs[0];
            inDoubt.IsLost = values[Array.IndexOf(own, key)].Text != value;
            if (inDoubt.IsLost) inDoubt = null;
        }
        if (!TryConfirm(connection, ref inDoubt)) return false;
        Record(_history, $"writer of {own[0]} at {begin}", begin, own, values);
        return true;
    }

    private bool TryConfirm(RespConnection connection, ref Write? write)
    {
        if (write is null) return true;
        if (_waits && connection.Call("WAIT", "1", "1000").ToString() is not (":1" or ":2")) return false;
        write.End = Now;
        write = null;
        Interlocked.Increment(ref _acknowledged);
        return true;
    }

    private void ReadAll(string place, EndPoint server, Random random)
    {
        long begun = -1;
        while (!_stops.IsSet && TryConnect(server) is { } opened)
        {
            using RespConnection connection = opened;
            try
            {
                while (!_stops.IsSet)
                {
                    long before = begun;
                    begun = Interlocked.Read(ref _begun);
                    if (begun == before && _stops.Wait(BetweenReadsMs)) break; // for seconds there is no primary, and nothing new to be seen
                    ReadOnce(place, connection, random);
                }
            }
            catch (Exception e) when (e is SocketException or IOException)
            {
                // the server is gone, or a Sentinel has closed its clients
            }
        }
    }

    private void ReadOnce(string place, RespConnection connection, Random random)
    {
        string[] keys = [.. s_all.Where(_ => random.Next(3) > 0)];
        if (keys.Length == 0 || !IsReplica(connection)) return;
        long begin = Now;
        RespNode reply = random.Next(3) == 0 ? Transaction(connection, keys) : connection.Call(["MGET", .. keys]);
        long end = Now;
        if (reply.Items is not { } values || !IsReplica(connection)) return; // as a primary it may show what no replica has
        _history.Add(new Read(place, begin, end, 0, [.. values.Select((value, i) => (keys[i], value.IsBulk ? value.Text : null))]));
        Interlocked.Increment(ref _read);
    }

    private static RespConnection? TryConnect(EndPoint server)
    {
        try
        {
            return new RespConnection(server);
        }
        catch (SocketException)
        {
            return null; // killed; if it is started again it is another place
        }
    }

    private static bool IsReplica(RespConnection connection) => connection.Call("ROLE").Items![0].Text == "slave";

    private static RespNode Transaction(RespConnection connection, string[] keys)
    {
        connection.Call("MULTI");
        foreach (string key in keys) connection.Call("GET", key);
        return connection.Call("EXEC");
    }

    // What was acknowledged before it was sent must be there.
    private static void Record(History history, string place, long begin, string[] keys, IReadOnlyList<RespNode> values) =>
        history.Add(new Read(place, begin, Now, begin, [.. values.Select((value, i) => (keys[i], value.IsBulk ? value.Text : null))]));
}
