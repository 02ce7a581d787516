using System.Runtime.InteropServices;

namespace Garnet.Aof.Lanes;

/// <summary>
/// The head of a piece of a lane's memory; the bytes follow it. Chunks of one lane and batch form a chain. Most have the
/// one size of the <see cref="ChunkPool"/>; an entry that does not fit into such a one has a chunk of its own.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct Chunk
{
    public const int HeaderBytes = 32;
    /// <summary>Bytes behind the capacity that may be written to and are never kept.</summary>
    public const int SlackBytes = 16;

    public Chunk* Next;
    /// <summary>Bytes in the chain before this chunk; set when the chunk is put behind another.</summary>
    public long Before;
    /// <summary>Bytes that fit in.</summary>
    public int Capacity;
    /// <summary>Bytes that hold entries; set when the lane goes on to another chunk or is taken.</summary>
    public int Used;

    public static byte* Start(Chunk* chunk) => (byte*)chunk + HeaderBytes;
}
