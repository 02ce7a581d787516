using System.IO.Hashing;
using BenchmarkDotNet.Attributes;
using Garnet.Aof.Format;

namespace Garnet.Bdn;

/// <summary>Our CRC-32C beside the checksum that the package System.IO.Hashing has, which is of another polynomial: may ours give way?</summary>
public class ChecksumBenchmark
{
    private byte[] _bytes = [];

    /// <summary>A header, a small batch, a large one.</summary>
    [Params(40, 1024, 65_536)]
    public int Bytes { get; set; }

    [GlobalSetup]
    public void Fill()
    {
        _bytes = new byte[Bytes];
        new Random(1).NextBytes(_bytes);
    }

    [Benchmark(Baseline = true)]
    public uint Ours() => Crc32C.Of(_bytes);

    [Benchmark]
    public uint Package() => Crc32.HashToUInt32(_bytes);
}
