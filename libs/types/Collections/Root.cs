using System.Runtime.CompilerServices;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// The value of a collection's record. Packed (or <see cref="IntegerSet"/>): 0 flags, 1-2 number of entries, then the entries one behind the other.
/// Chunked: 0 flags, 4-7 the store's bound of the chunks' numbers (<see cref="RootLimit"/>), 8-15 number of entries, 16-23 bytes of all
/// entries, 24-27 number of chunks found by key, 28-31 slots in use of the <see cref="PageDirectory"/>,
/// which follows.
/// </summary>
public static unsafe class Root
{
    public const int PackedBytes = 3, PackedEntriesMax = ushort.MaxValue, ChunkedBytes = 32;

    public static RootFlags Flags(byte* value) => (RootFlags)(*value);

    public static bool IsChunked(byte* value) => (*value & (byte)RootFlags.Chunked) != 0;

    public static bool Has(byte* value, RootFlags flag) => (*value & (byte)flag) != 0;

    public static int PackedCount(byte* value) => Unsafe.ReadUnaligned<ushort>(value + 1);

    public static void SetPackedCount(byte* value, int count) => Unsafe.WriteUnaligned(value + 1, (ushort)count);

    public static uint Chunks(byte* value) => Unsafe.ReadUnaligned<uint>(value + 24);

    public static void SetChunks(byte* value, uint chunks)
    {
        Unsafe.WriteUnaligned(value + 24, chunks);
        RaiseLimit(value, chunks - 1);
    }

    public static int Slots(byte* value) => Unsafe.ReadUnaligned<int>(value + 28);

    public static void SetSlots(byte* value, int slots) => Unsafe.WriteUnaligned(value + 28, slots);

    /// <summary>Notes in an open root that a chunk of that number is in use.</summary>
    public static void RaiseLimit(byte* value, uint number) => RootLimit.Raise(value, number);

    public static long ChunkedCount(byte* value) => Unsafe.ReadUnaligned<long>(value + 8);

    public static void SetChunkedCount(byte* value, long count) => Unsafe.WriteUnaligned(value + 8, count);

    public static long EntryBytes(byte* value) => Unsafe.ReadUnaligned<long>(value + 16);

    public static void SetEntryBytes(byte* value, long bytes) => Unsafe.WriteUnaligned(value + 16, bytes);

    /// <summary>Number of entries, in whatever form.</summary>
    public static long Count(byte* value) =>
        IsChunked(value) ? ChunkedCount(value) : Has(value, RootFlags.Integers) ? IntegerSet.Count(value) : PackedCount(value);

    /// <summary>Sets flags of an open or closed root.</summary>
    public static void Raise(ref RecordEdit edit, RootFlags flags)
    {
        if ((Flags(edit.Value) & flags) == flags)
            return;
        byte* value = edit.Write(edit.ValueBytes, force: true);
        if (value == null)
            return;
        *value |= (byte)flags;
        edit.Close();
    }
}
