using System.Runtime.InteropServices;

namespace Garnet.Aof.Lanes;

/// <summary>
/// What one partition has written in one batch. A lane is two of them side by side, 64 bytes, chosen by the parity of the
/// batch's number. Changed under the partition's lock only.
/// </summary>
[StructLayout(LayoutKind.Sequential)]
internal unsafe struct LaneHalf
{
    public Chunk* Head;
    public Chunk* Tail;
    /// <summary>Where the next entry begins, in the tail.</summary>
    public byte* Cursor;
    /// <summary>Bytes left in the tail.</summary>
    public int Room;
    public uint Entries;
}
