using System.Numerics;

namespace Garnet.Load.Traffic;

/// <summary>An endless stream of key numbers below a bound: uniform, zipf 0.99 or in sequence.</summary>
internal sealed class KeyStream
{
    private const int ZipfDrawsMin = 1 << 20, ZipfDrawsMax = 1 << 24;
    private const double ZipfExponent = 0.99;

    private readonly ulong _keys;
    private readonly uint[]? _drawn; // drawn ahead; of a power of two
    private readonly bool _inSequence;
    private ulong _state = 0x9E3779B97F4A7C15;
    private uint _next;

    public KeyStream(long keys, KeyOrder order)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(keys, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(keys, 100_000_000);
        _keys = (ulong)keys;
        _inSequence = order == KeyOrder.Sequence;
        _drawn = order == KeyOrder.Zipf ? DrawZipf() : null;
    }

    /// <summary>These keys, as many as a power of two, one after the other again and again.</summary>
    public KeyStream(uint[] keys)
    {
        if (!BitOperations.IsPow2(keys.Length)) throw new ArgumentException("not a power of two", nameof(keys));
        _keys = (ulong)keys.Length;
        _drawn = keys;
    }

    public uint Next()
    {
        if (_drawn is not null) return _drawn[_next++ & (uint)(_drawn.Length - 1)];
        if (!_inSequence) return (uint)Math.BigMul(Random(), _keys, out _);
        uint key = _next++;
        if (_next == _keys) _next = 0;
        return key;
    }

    /// <summary>Share of the draws that falls on as many keys as are given, those that are drawn most: what nobody can better who keeps so many.</summary>
    public double ShareOfTop(long keys)
    {
        if (_drawn is null) return Math.Min(1, (double)keys / _keys);
        int[] counts = new int[_keys];
        foreach (uint key in _drawn) counts[key]++;
        Array.Sort(counts, static (a, b) => b.CompareTo(a));
        return counts.Take((int)Math.Min(keys, counts.Length)).Sum(static count => (long)count) / (double)_drawn.Length;
    }

    /// <summary>How many keys were drawn.</summary>
    public uint Drawn => _next;

    /// <summary>
    /// The same of an LFU that does not know what is to come: share of the draws from one on that fell on the keys drawn most before each. Of those drawn as often as the
    /// last that it keeps, it has as many as there is room for, by chance.
    /// </summary>
    public double ShareOfCounted(long keys, uint from)
    {
        if (_drawn is null) return Math.Min(1, (double)keys / _keys);
        int[] counts = new int[_keys], keysOf = new int[(long)_next + 2];
        (keysOf[0], int least, long above, double hits) = ((int)_keys, 0, 0, 0);
        for (uint i = 0; i < _next; i++)
        {
            ref int count = ref counts[_drawn[i & (uint)(_drawn.Length - 1)]];
            if (i >= from && count >= least) hits += count > least ? 1 : (double)(keys - above) / keysOf[least];
            keysOf[count]--;
            if (count == least) above++;
            keysOf[++count]++;
            while (above > keys) above -= keysOf[++least];
        }
        return hits / (_next - from);
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
