using Garnet.Common.Bytes;

namespace Garnet.Types.Collections;

/// <summary>Random numbers for one command: xorshift from a seed of the process.</summary>
public unsafe struct RandomBits
{
    /// <summary>Where the text of a drawn integer stands until the next draw.</summary>
    public fixed byte Digits[NumberText.Int64BytesMax + 12];
    private ulong _state;

    public static RandomBits Create() => new() { _state = (ulong)System.Random.Shared.NextInt64() | 1 };

    /// <summary>A number below <paramref name="below"/>.</summary>
    public ulong Below(ulong below)
    {
        _state ^= _state << 13;
        _state ^= _state >> 7;
        _state ^= _state << 17;
        return Math.BigMul(_state * 0x9E3779B97F4A7C15, below, out _);
    }
}
