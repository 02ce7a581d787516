using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>Head of a piece of memory that writers save records into; the records follow it.</summary>
[StructLayout(LayoutKind.Sequential, Size = HeadBytes)]
internal unsafe struct SavedBlock
{
    public const int HeadBytes = 32;
    public SavedBlock* Next;
    /// <summary>Bytes for records, those taken, and how many records.</summary>
    public int Room, Used, Records;

    public static byte* Start(SavedBlock* block) => (byte*)block + HeadBytes;
}
