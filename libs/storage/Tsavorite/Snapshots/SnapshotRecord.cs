using System.Numerics;
using System.Runtime.CompilerServices;

namespace Tsavorite;

/// <summary>
/// A record as it stands in a snapshot's block, little endian: 0-3 length of the value, 4-5 length of the key, 6 kind, 7 flags (1
/// expiry, 2 ETag, 4 internal, 8 owner), 8-11 database; then expiry, ETag and owner (8 bytes each, where the flags say so), key, value. No
/// padding. Described in website/docs/format/snapshot.md; the file's version covers it.
/// </summary>
internal static unsafe class SnapshotRecord
{
    public const int HeaderBytes = 12;
    public const byte TtlFlag = 1, ETagFlag = 2, InternalFlag = 4, OwnerFlag = 8;
    private const int FieldBytes = 8;
    private const uint Kinds = 1u << (int)RecordKind.String | 1u << (int)RecordKind.Hash | 1u << (int)RecordKind.List
        | 1u << (int)RecordKind.Set | 1u << (int)RecordKind.SortedSet | 1u << (int)RecordKind.Stream | 1u << (int)RecordKind.Chunk;

    /// <summary>Bytes the record takes in a block.</summary>
    public static int BytesOf(byte* record) =>
        checked(HeaderBytes + FieldsOf(FlagsOf(record)) + Record.KeyBytes(record) + Record.ValueBytes(record));

    /// <summary>Writes what <see cref="BytesOf"/> measured; the record's partition is locked. Returns the bytes written.</summary>
    public static int Write(byte* to, byte* record, int database)
    {
        byte flags = FlagsOf(record);
        int keyBytes = Record.KeyBytes(record), valueBytes = Record.ValueBytes(record);
        *(int*)to = valueBytes;
        *(ulong*)(to + 4) = (uint)keyBytes | (ulong)Record.Kind(record) << 16 | (ulong)flags << 24 | (ulong)(uint)database << 32;
        byte* next = to + HeaderBytes;
        if ((flags & TtlFlag) != 0)
        {
            *(long*)next = Record.ExpireAtMs(record);
            next += FieldBytes;
        }
        if ((flags & ETagFlag) != 0)
        {
            *(ulong*)next = Record.ETag(record);
            next += FieldBytes;
        }
        if ((flags & OwnerFlag) != 0)
        {
            *(ulong*)next = Record.Owner(record);
            next += FieldBytes;
        }
        // Key and value are neighbours in memory too.
        Unsafe.CopyBlockUnaligned(next, Record.Key(record), (uint)(keyBytes + valueBytes));
        return (int)(next - to) + keyBytes + valueBytes;
    }

    /// <summary>
    /// Reads the record at <paramref name="from"/>, believing nothing; false if it is not whole before <paramref name="end"/> or
    /// says what cannot be. Returns pointers into the block.
    /// </summary>
    public static bool TryRead(byte* from, byte* end, out LoadRecord record)
    {
        record = default;
        if (end - from < HeaderBytes)
            return false;
        uint valueBytes = *(uint*)from;
        int kind = from[6], flags = from[7];
        if (valueBytes > Record.ValueBytesMax || kind > 31 || (Kinds >> kind & 1) == 0)
            return false;
        if ((flags & ~(TtlFlag | ETagFlag | InternalFlag | OwnerFlag)) != 0)
            return false;
        bool isInternal = (flags & InternalFlag) != 0;
        if (isInternal != (kind == (int)RecordKind.Chunk))
            return false;
        record.KeyBytes = *(ushort*)(from + 4);
        // Only what has pieces has their number, and room for what they stay below.
        if ((flags & OwnerFlag) != 0 && (kind == (int)RecordKind.String || valueBytes < RootLimit.ValueBytesMin))
            return false;
        record.Database = *(int*)(from + 8);
        record.Bytes = HeaderBytes + FieldsOf((byte)flags) + record.KeyBytes + (int)valueBytes;
        if (record.Bytes > end - from || (uint)record.Database >= NamespaceTable.DatabasesMax)
            return false;
        byte* next = from + HeaderBytes;
        if ((flags & TtlFlag) != 0)
        {
            record.ExpireAtMs = *(long*)next;
            next += FieldBytes;
        }
        if ((flags & ETagFlag) != 0)
        {
            record.ETag = *(ulong*)next;
            next += FieldBytes;
        }
        if ((flags & OwnerFlag) != 0)
        {
            record.Owner = *(ulong*)next;
            next += FieldBytes;
            if (record.Owner == 0)
                return false;
        }
        record.Kind = (RecordKind)kind;
        record.Key = next;
        record.Value = next + record.KeyBytes;
        record.ValueBytes = (int)valueBytes;
        return true;
    }

    /// <summary>Bytes of the record written at <paramref name="from"/> by <see cref="Write"/>.</summary>
    public static int BytesAt(byte* from) => HeaderBytes + FieldsOf(from[7]) + *(ushort*)(from + 4) + *(int*)from;

    // A field that holds 0 is as good as absent.
    private static byte FlagsOf(byte* record)
    {
        int flags = Record.Kind(record) == RecordKind.Chunk ? InternalFlag : 0;
        if ((Record.Flags(record) & (Record.TtlFlag | Record.ETagFlag | Record.OwnerFlag)) == 0)
            return (byte)flags;
        if (Record.ExpireAtMs(record) != 0)
            flags |= TtlFlag;
        if (Record.ETag(record) != 0)
            flags |= ETagFlag;
        if (Record.Owner(record) != 0)
            flags |= OwnerFlag;
        return (byte)flags;
    }

    private static int FieldsOf(byte flags) => BitOperations.PopCount((uint)(flags & (TtlFlag | ETagFlag | OwnerFlag))) * FieldBytes;
}
