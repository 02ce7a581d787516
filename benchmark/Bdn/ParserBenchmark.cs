using System.Runtime.InteropServices;
using System.Text;
using BenchmarkDotNet.Attributes;
using Garnet.Common.Resp;

namespace Garnet.Bdn;

/// <summary>Framing of whole batches of GET, SET and INCR; time per command.</summary>
[MemoryDiagnoser]
public unsafe class ParserBenchmark : IDisposable
{
    private const int Commands = 1600, Slack = 64;
    private readonly RespParser _parser = new();
    private readonly ArgList _args = new();
    private readonly RespLimits _limits = new() { ArgsMax = RespLimits.DefaultArgsMax, BulkBytesMax = 512L << 20 };
    private byte* _batch;
    private int _bytes;

    /// <summary>The command that the batch repeats.</summary>
    [Params("GET", "SET", "INCR")]
    public string Command { get; set; } = "";

    /// <summary>Commands per batch.</summary>
    [Params(1, 16, 100)]
    public int Pipeline { get; set; }

    [GlobalSetup]
    public void Fill()
    {
        string one = Command switch
        {
            "SET" => $"*3\r\n$3\r\nSET\r\n$16\r\nkey:000000000042\r\n$64\r\n{new string('v', 64)}\r\n",
            _ => $"*2\r\n${Command.Length}\r\n{Command}\r\n$16\r\nkey:000000000042\r\n",
        };
        byte[] bytes = Encoding.ASCII.GetBytes(string.Concat(Enumerable.Repeat(one, Pipeline)));
        _bytes = bytes.Length;
        _batch = (byte*)NativeMemory.AllocZeroed((nuint)(_bytes + Slack));
        bytes.CopyTo(new Span<byte>(_batch, _bytes));
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _args.Dispose();
        NativeMemory.Free(_batch);
        GC.SuppressFinalize(this);
    }

    [Benchmark(OperationsPerInvoke = Commands)]
    public int Parse()
    {
        int found = 0;
        while (found < Commands)
        {
            byte* end = _batch + _bytes;
            _args.Clear();
            for (byte* at = _batch; at < end && found < Commands; at = _parser.Position)
            {
                if (_parser.Parse(at, end, _args, _limits) != ParseResult.Command) throw new InvalidOperationException(_parser.Error);
                found++;
            }
        }
        return found;
    }
}
