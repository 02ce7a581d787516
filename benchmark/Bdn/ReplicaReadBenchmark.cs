using System.Runtime.InteropServices;
using System.Text;
using BenchmarkDotNet.Attributes;
using Garnet.Server.Test.InProcess;

namespace Garnet.Bdn;

/// <summary>Whose data are read.</summary>
public enum ReadFrom
{
    /// <summary>A server without a log that nobody follows.</summary>
    Alone,
    /// <summary>A server with a log in memory that a replica follows.</summary>
    Primary,
    /// <summary>That replica, reads being checked against what is being applied (replication.Z5).</summary>
    Replica,
}

/// <summary>
/// What reading costs on a replica, without sockets: 100 GETs, and one MGET of 100 keys, from framing to the finished reply. Time of
/// all 100. The keys are drawn from 100,000.
/// </summary>
[MemoryDiagnoser, MaxIterationCount(20)]
public unsafe class ReplicaReadBenchmark : IDisposable
{
    private const int Keys = 100_000, Batch = 100, Requests = 1000;
    private const int ReplyBytes = 5 + ReadServers.ValueBytes + 2, HeadBytes = 6; // $64, value, line end; *100 in front
    private ReadServers? _servers;
    private InProcessClient? _client;
    private byte* _gets, _mgets;
    private int _getBytes, _mgetBytes, _next;

    /// <summary>Whose data are read.</summary>
    [ParamsAllValues]
    public ReadFrom From { get; set; }

    [GlobalSetup]
    public void Open()
    {
        _servers = new ReadServers(Keys, hasReplica: From != ReadFrom.Alone);
        _client = From == ReadFrom.Replica ? _servers.ToReplica() : _servers.ToPrimary();
        var random = new Random(1);
        StringBuilder gets = new(), mgets = new();
        for (int i = 0; i < Requests; i++)
        {
            string[] keys = [.. Enumerable.Range(0, Batch).Select(_ => $"${ReadServers.KeyBytes}\r\n{ReadServers.Key(random.Next(Keys))}\r\n")];
            foreach (string key in keys) gets.Append("*2\r\n$3\r\nGET\r\n").Append(key);
            mgets.Append($"*{Batch + 1}\r\n$4\r\nMGET\r\n").AppendJoin("", keys);
        }
        _gets = Pinned(gets, out _getBytes);
        _mgets = Pinned(mgets, out _mgetBytes);
        if (Get100() != Batch * ReplyBytes || MGet100() != HeadBytes + (Batch * ReplyBytes)) throw new InvalidOperationException("not what was set");
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _client?.Dispose();
        _servers?.Dispose();
        NativeMemory.AlignedFree(_gets);
        NativeMemory.AlignedFree(_mgets);
        GC.SuppressFinalize(this);
    }

    [Benchmark]
    public int Get100() => _client!.Exchange(_gets + ((long)Next() * _getBytes), _getBytes);

    [Benchmark]
    public int MGet100() => _client!.Exchange(_mgets + ((long)Next() * _mgetBytes), _mgetBytes);

    private int Next() => _next = _next + 1 == Requests ? 0 : _next + 1;

    private static byte* Pinned(StringBuilder text, out int bytesEach)
    {
        byte* bytes = (byte*)NativeMemory.AlignedAlloc((nuint)text.Length, 64);
        Encoding.ASCII.GetBytes(text.ToString(), new Span<byte>(bytes, text.Length));
        bytesEach = text.Length / Requests;
        return bytes;
    }
}
