using System.Net.Sockets;
using System.Text;
using BenchmarkDotNet.Attributes;
using Garnet.Host;

namespace Garnet.Bdn;

/// <summary>
/// A command from socket to socket inside a running server, in batches of a hundred: receiving, framing, the way through the command
/// table, the store, the reply. Time per command; the allocations of the server's threads count.
/// </summary>
[MemoryDiagnoser, MaxIterationCount(20)]
public class DispatchBenchmark : IDisposable
{
    private const int Batch = 100, Fields = 10, Members = 1000;
    private GarnetServer? _server;
    private Socket? _socket;
    private byte[] _request = [], _reply = [];

    /// <summary>
    /// The command that the batch repeats: HGET reads a hash of ten fields, each ZADD moves one of a thousand members.
    /// What the command itself takes is the difference to PING.
    /// </summary>
    [Params("GET", "SET", "INCR", "PING", "HGET", "ZADD")]
    public string Command { get; set; } = "";

    [GlobalSetup]
    public void Open()
    {
        (string one, string reply) = Command switch
        {
            "SET" => ($"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$64\r\n{new string('v', 64)}\r\n", "+OK\r\n"),
            "GET" => ("*2\r\n$3\r\nGET\r\n$7\r\nmissing\r\n", "$-1\r\n"),
            "HGET" => ("*3\r\n$4\r\nHGET\r\n$4\r\nhash\r\n$6\r\nfield7\r\n", "$8\r\nvalue007\r\n"),
            "ZADD" => ("", ":0\r\n"),
            "INCR" => ("*2\r\n$4\r\nINCR\r\n$7\r\ncounter\r\n", ":1000000000\r\n"),
            _ => ("*1\r\n$4\r\nPING\r\n", "+PONG\r\n"),
        };
        GarnetServerOptions options = new();
        options.Settings["bind"] = "127.0.0.1";
        options.Settings["reactor-threads"] = "1";
        _server = GarnetServer.StartAsync(options).GetAwaiter().GetResult();
        _socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        _socket.Connect("127.0.0.1", _server.Port);
        Prepare("SET counter 1000000000", "+OK\r\n"); // every reply to INCR has the same length
        Prepare($"HSET hash {string.Join(' ', Enumerable.Range(0, Fields).Select(static i => $"field{i} value{i:000}"))}", $":{Fields}\r\n");
        Prepare($"ZADD sorted {string.Join(' ', Enumerable.Range(0, Members).Select(static i => $"{i} member{i:000}"))}", $":{Members}\r\n");
        IEnumerable<string> batch = Command == "ZADD" ? Enumerable.Range(0, Batch).Select(Move) : Enumerable.Repeat(one, Batch);
        _request = Encoding.ASCII.GetBytes(string.Concat(batch));
        _reply = new byte[reply.Length * Batch];
    }

    // Every member is moved twice a batch, far away and back again, so that each command has something to do.
    private static string Move(int i)
    {
        int member = i * Members / Batch % (Members / 2);
        int score = i < Batch / 2 ? member + (Members / 2) : member;
        return $"*4\r\n$4\r\nZADD\r\n$6\r\nsorted\r\n$3\r\n{score:000}\r\n$9\r\nmember{member:000}\r\n";
    }

    private void Prepare(string command, string reply)
    {
        _request = Encoding.ASCII.GetBytes(command + "\r\n");
        _reply = new byte[reply.Length];
        Exchange();
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _socket?.Dispose();
        _server?.DisposeAsync().AsTask().Wait();
        GC.SuppressFinalize(this);
    }

    [Benchmark(OperationsPerInvoke = Batch)]
    public int Exchange()
    {
        _socket!.Send(_request);
        int got = 0;
        while (got < _reply.Length) got += _socket.Receive(_reply.AsSpan(got));
        return got;
    }
}
