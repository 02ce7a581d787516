using System.Text;
using BenchmarkDotNet.Attributes;
using Garnet.Server.Test.InProcess;

namespace Garnet.Bdn;

/// <summary>What rights cost a command: nothing for who may do everything, a look at the patterns for each key of the others. Time per key.</summary>
[MemoryDiagnoser, MaxIterationCount(20)]
public class RightsBenchmark : IDisposable
{
    private const int Keys = 1000;
    private ReadServers? _servers;
    private InProcessClient? _client;
    private byte[] _request = [];

    /// <summary>The rules of the user that asks.</summary>
    [Params("+@all ~* &*", "+@all ~key:*", "+@all ~a* ~b* ~c* ~key:*", "+@all ~a* (+get ~b*) (+mget ~key:*)")]
    public string Rules { get; set; } = "";

    [GlobalSetup]
    public void Open()
    {
        _servers = new ReadServers(Keys, hasReplica: false);
        _client = _servers.ToPrimary();
        _client.Exchange($"ACL SETUSER ann on nopass {Rules}\r\n");
        _client.Exchange("AUTH ann x\r\n");
        IEnumerable<string> keys = Enumerable.Range(0, Keys).Select(static i => $"${ReadServers.KeyBytes}\r\n{ReadServers.Key(i)}\r\n");
        _request = Encoding.ASCII.GetBytes($"*{Keys + 1}\r\n$4\r\nMGET\r\n{string.Concat(keys)}");
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _client?.Dispose();
        _servers?.Dispose();
        GC.SuppressFinalize(this);
    }

    [Benchmark(OperationsPerInvoke = Keys)]
    public unsafe int Read()
    {
        fixed (byte* start = _request) return _client!.Exchange(start, _request.Length);
    }
}
