using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;
using Garnet.Common.Test;
using Garnet.Wire.Replication;

namespace Garnet.Wire.Consistency;

/// <summary>Clients of a primary and its replicas, each with a connection of its own, who write down what they do and see.</summary>
internal sealed class Clients(ReplicaServer primary, History history, int seed)
{
    private const int Writers = 3, KeysEach = 4;
    private static readonly string[] All = [.. Enumerable.Range(0, Writers * KeysEach).Select(static i => KeyOf(i / KeysEach, i % KeysEach))];
    private volatile bool _stops;

    /// <summary>Runs the readers (one per server named, so often) while all writers write.</summary>
    public void Run(IReadOnlyList<(string Place, ReplicaServer Server)> readers, int readsEach, string consistency = "STRICT")
    {
        Thread[] writing = [.. Enumerable.Range(0, Writers).Select(writer => Begin(() => WriteAll(writer)))];
        Thread[] reading = [.. readers.Select((reader, i) => Begin(() => ReadAll(reader.Place, reader.Server, new Random(seed + 100 + i), readsEach, consistency)))];
        foreach (Thread thread in reading) thread.Await();
        _stops = true;
        foreach (Thread thread in writing) thread.Await();
    }

    /// <summary>Everything there is, read once more when nobody writes.</summary>
    public void ReadEnd(string place, ReplicaServer server)
    {
        server.CatchUp(primary);
        using RespConnection connection = server.Connect();
        long begin = Now;
        Record(place, begin, begin, All, connection.Call(["MGET", .. All]));
    }

    private static long Now => Stopwatch.GetTimestamp();

    private static string KeyOf(int writer, int key) => $"w{writer}.{key}";

    private static Thread Begin(Action body)
    {
        var thread = new Thread(() => body());
        thread.Start();
        return thread;
    }

    private void WriteAll(int writer)
    {
        var random = new Random(seed + writer);
        using RespConnection connection = primary.Connect();
        for (int number = (int)(Now & 0x3FFFFFFF); !_stops; number++)
        {
            string value = number.ToString(CultureInfo.InvariantCulture);
            (string, string)[] pairs = [.. Enumerable.Range(0, KeysEach).OrderBy(_ => random.Next()).Take(random.Next(1, KeysEach)).Select(key => (KeyOf(writer, key), value))];
            Write write = history.Begin(Now, pairs);
            try
            {
                Send(connection, pairs, asTransaction: random.Next(3) == 0);
                write.End = Now;
            }
            catch (Exception e) when (e is SocketException or IOException)
            {
                return; // the server is gone: nobody knows whether it came through
            }
        }
    }

    private static void Send(RespConnection connection, (string Key, string Value)[] pairs, bool asTransaction)
    {
        if (!asTransaction)
        {
            connection.Call(["MSET", .. pairs.SelectMany(static pair => new[] { pair.Key, pair.Value })]);
            return;
        }
        connection.Call("MULTI");
        foreach ((string key, string value) in pairs) connection.Call("SET", key, value);
        connection.Call("EXEC");
    }

    private void ReadAll(string place, ReplicaServer server, Random random, int reads, string consistency)
    {
        using RespConnection connection = server.Connect(), upstream = primary.Connect();
        connection.Call("CLIENT", "CONSISTENCY", consistency);
        for (int i = 0; i < reads; i++)
        {
            long notBefore = server == primary ? Now : 0;
            if (server != primary && random.Next(20) == 0) notBefore = AwaitNow(connection, upstream, random);
            string[] keys = [.. All.Where(_ => random.Next(3) > 0)];
            if (keys.Length == 0) continue;
            long begin = Now;
            RespNode reply = random.Next(3) switch
            {
                0 => connection.Call("GET", keys[0]),
                1 => Transaction(connection, keys),
                _ => connection.Call(["MGET", .. keys]),
            };
            Record(place, begin, notBefore, keys, reply);
        }
    }

    // By a token of the primary, or by a barrier; 0 if that was not to be had in time.
    private static long AwaitNow(RespConnection connection, RespConnection upstream, Random random)
    {
        long now = Now;
        RespNode reply = random.Next(2) == 0 ? connection.Call("REPL", "BARRIER", "4000") : connection.Call("REPL", "WAIT", upstream.Call("REPL", "TOKEN").Text, "4000");
        return reply.Kind == '-' ? 0 : now;
    }

    private static RespNode Transaction(RespConnection connection, string[] keys)
    {
        connection.Call("MULTI");
        foreach (string key in keys) connection.Call("GET", key);
        return connection.Call("EXEC");
    }

    // TRYAGAIN says nothing about the data.
    private void Record(string place, long begin, long notBefore, string[] keys, RespNode reply)
    {
        if (reply.Kind == '-') return;
        IReadOnlyList<RespNode> values = reply.Items ?? [reply];
        history.Add(new Read(place, begin, Now, notBefore, [.. values.Select((value, i) => (keys[i], value.IsBulk ? value.Text : null))]));
    }
}
