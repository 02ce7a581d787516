using Garnet.Common.Bytes;

namespace Garnet.Types.Collections;

/// <summary>Random numbers for one command: xorshift from a seed.</summary>
public unsafe struct RandomBits
{
    /// <summary>Where the text of a drawn integer stands until the next draw.</summary>
    public fixed byte Digits[NumberText.Int64BytesMax + 12];
    private ulong _state;

    /// <summary>The same seed draws the same numbers.</summary>
    public static RandomBits From(ulong seed)
    {
        ulong mixed = seed + 0x9E3779B97F4A7C15; // splitmix64: seeds that are close to each other begin far from each other
        mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
        return new() { _state = (mixed ^ (mixed >> 31)) | 1 };
    }

    /// <summary>A number below <paramref name="below"/>.</summary>
    public ulong Below(ulong below)
    {
        _state ^= _state << 13;
        _state ^= _state >> 7;
        _state ^= _state << 17;
        return Math.BigMul(_state * 0x9E3779B97F4A7C15, below, out _);
    }
}
