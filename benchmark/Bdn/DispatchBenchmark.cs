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
    private const int Batch = 100;
    private GarnetServer? _server;
    private Socket? _socket;
    private byte[] _request = [], _reply = [];

    /// <summary>The command that the batch repeats.</summary>
    [Params("GET", "SET", "INCR", "PING")]
    public string Command { get; set; } = "";

    [GlobalSetup]
    public void Open()
    {
        (string one, string reply) = Command switch
        {
            "SET" => ($"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$64\r\n{new string('v', 64)}\r\n", "+OK\r\n"),
            "GET" => ("*2\r\n$3\r\nGET\r\n$7\r\nmissing\r\n", "$-1\r\n"),
            "INCR" => ("*2\r\n$4\r\nINCR\r\n$7\r\ncounter\r\n", ":1000000000\r\n"),
            _ => ("*1\r\n$4\r\nPING\r\n", "+PONG\r\n"),
        };
        GarnetServerOptions options = new();
        options.Settings["bind"] = "127.0.0.1";
        options.Settings["reactor-threads"] = "1";
        _server = GarnetServer.StartAsync(options).GetAwaiter().GetResult();
        _socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        _socket.Connect("127.0.0.1", _server.Port);
        _request = Encoding.ASCII.GetBytes("SET counter 1000000000\r\n");
        _reply = new byte[5];
        Exchange(); // every reply to INCR has the same length
        _request = Encoding.ASCII.GetBytes(string.Concat(Enumerable.Repeat(one, Batch)));
        _reply = new byte[reply.Length * Batch];
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
