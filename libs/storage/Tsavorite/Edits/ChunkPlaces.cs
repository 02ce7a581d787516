using System.Runtime.CompilerServices;

namespace Tsavorite;

/// <summary>Where the chunks lie that an edit has looked at last.</summary>
[InlineArray(Count)]
internal struct ChunkPlaces
{
    public const int Count = 16;
    private ChunkPlace _first;
}

/// <summary>Where a chunk is; no record if there is none of that number.</summary>
internal unsafe struct ChunkPlace
{
    public byte* Record;
    public byte* Bucket;
    public ulong* Slot;
    public ulong Hash;
    public uint Number;
}
