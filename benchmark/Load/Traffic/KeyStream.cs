using System.Numerics;

namespace Garnet.Load.Traffic;

/// <summary>An endless stream of key numbers below a bound: uniform, zipf 0.99 or in sequence.</summary>
internal sealed class KeyStream
{
    private const int ZipfDrawsMin = 1 << 20, ZipfDrawsMax = 1 << 24;
    private const double ZipfExponent = 0.99;

    private readonly ulong _keys;
    private readonly uint[]? _zipf;
    private readonly bool _inSequence;
    private ulong _state = 0x9E3779B97F4A7C15;
    private uint _next;

    public KeyStream(long keys, KeyOrder order)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(keys, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(keys, 100_000_000);
        _keys = (ulong)keys;
        _inSequence = order == KeyOrder.Sequence;
        _zipf = order == KeyOrder.Zipf ? DrawZipf() : null;
    }

    public uint Next()
    {
        if (_zipf is not null) return _zipf[_next++ & (uint)(_zipf.Length - 1)];
        if (!_inSequence) return (uint)Math.BigMul(Random(), _keys, out _);
        uint key = _next++;
        if (_next == _keys) _next = 0;
        return key;
    }

    /// <summary>Share of the draws that falls on as many keys as are given, those that are drawn most: what nobody can better who keeps so many.</summary>
    public double ShareOfTop(long keys)
    {
        if (_zipf is null) return Math.Min(1, (double)keys / _keys);
        int[] counts = new int[_keys];
        foreach (uint key in _zipf) counts[key]++;
        Array.Sort(counts, static (a, b) => b.CompareTo(a));
        return counts.Take((int)Math.Min(keys, counts.Length)).Sum(static count => (long)count) / (double)_zipf.Length;
    }

    private ulong Random()
    {
        _state ^= _state << 13;
        _state ^= _state >> 7;
        _state ^= _state << 17;
        return _state;
    }

    // Gray et al., "Quickly generating billion-record synthetic databases"; drawn ahead because Math.Pow is dearer than a request.
    private uint[] DrawZipf()
    {
        double zeta = 0;
        for (ulong i = 1; i <= _keys; i++) zeta += Math.Pow(i, -ZipfExponent);
        double zetaOfTwo = 1 + Math.Pow(2, -ZipfExponent);
        double alpha = 1 / (1 - ZipfExponent);
        double eta = (1 - Math.Pow(2.0 / _keys, 1 - ZipfExponent)) / (1 - zetaOfTwo / zeta);
        // so many that a cycle of them holds what is seldom, too
        uint[] draws = new uint[Math.Clamp((int)BitOperations.RoundUpToPowerOf2(4 * (uint)_keys), ZipfDrawsMin, ZipfDrawsMax)];
        for (int i = 0; i < draws.Length; i++)
        {
            double u = (Random() >> 11) * (1.0 / (1UL << 53));
            double scaled = u * zeta;
            ulong rank = scaled < 1 ? 0 : scaled < zetaOfTwo ? 1 : (ulong)(_keys * Math.Pow(eta * u - eta + 1, alpha));
            draws[i] = (uint)(Math.Min(rank, _keys - 1) * 2654435761 % _keys);   // neighbours in rank are no neighbours in name
        }
        return draws;
    }
}
