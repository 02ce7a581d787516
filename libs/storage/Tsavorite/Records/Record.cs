using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;

namespace Tsavorite;

/// <summary>
/// The layout of a record in memory, format version <see cref="FormatVersion"/>:
/// 0-3 checksum of its clean copy on the tier (0: there is none, <see cref="CleanCopy"/>), 4 kind, 5 flags, 6-7 key length, 8-11 value length, 12-14 namespace, 15 slack in
/// 8-byte units; then expiry, ETag, place of the clean copy and owner (8 bytes each, where the flags say so), key, value, slack; the whole
/// rounded up to 8 bytes. The owner is the number that a record with chunks shares with them (<see cref="ChunkKey"/>). The capacity is derived from these, for an extent from its run of pages.
/// A field that is present may hold 0, which means the same as absent: so an expiry can be dropped in place.
/// </summary>
internal static unsafe class Record
{
    public const int FormatVersion = 1;
    public const int HeaderBytes = 16, FieldBytes = 8, SlackUnitsMax = 255;
    public const int ValueBytesMax = (512 << 20) + (64 << 10);

    public const byte TtlFlag = 1, ETagFlag = 2, OwnerFlag = 4, CopyFlag = 8, ExtentFlag = 16, GrownFlag = 64;
    private const byte FieldFlags = TtlFlag | ETagFlag | CopyFlag | OwnerFlag;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static RecordKind Kind(byte* record) => (RecordKind)record[4];

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte Flags(byte* record) => record[5];

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int KeyBytes(byte* record) => *(ushort*)(record + 6);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int ValueBytes(byte* record) => *(int*)(record + 8);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static uint Namespace(byte* record) => *(uint*)(record + 12) & 0xFFFFFF;

    /// <summary>Bytes before the key.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int KeyOffset(byte flags) => HeaderBytes + BitOperations.PopCount((uint)(flags & FieldFlags)) * FieldBytes;

    /// <summary>Bytes that a new record takes, without slack.</summary>
    public static long BytesFor(in KeyRef key, in NewRecord next) => (long)KeyOffset(FlagsFor(next)) + key.Length + next.ValueBytes;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Round(long bytes) => (int)((bytes + 7) & ~7L);

    public static byte* Key(byte* record) => record + KeyOffset(Flags(record));

    public static byte* Value(byte* record) => Key(record) + KeyBytes(record);

    /// <summary>Bytes a record inside a segment takes, slack included.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Capacity(byte* record) =>
        Round((long)KeyOffset(Flags(record)) + KeyBytes(record) + ValueBytes(record)) + record[15] * 8;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static long ExpireAtMs(byte* record) => (Flags(record) & TtlFlag) != 0 ? *(long*)(record + HeaderBytes) : 0;

    public static bool IsLive(byte* record, long nowMs)
    {
        long expireAtMs = ExpireAtMs(record);
        return expireAtMs == 0 || expireAtMs > nowMs;
    }

    public static ulong ETag(byte* record)
    {
        byte flags = Flags(record);
        return (flags & ETagFlag) == 0 ? 0 : *(ulong*)(record + HeaderBytes + (flags & TtlFlag) * FieldBytes);
    }

    /// <summary>Number shared with the record's chunks; 0 = it has none.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong Owner(byte* record)
    {
        byte flags = Flags(record);
        return (flags & OwnerFlag) == 0 ? 0 : *(ulong*)(record + KeyOffset(flags) - FieldBytes);
    }

    /// <summary>Writes the two header words and the optional fields; the key and value follow by the caller.</summary>
    public static void WriteHeader(byte* record, byte flags, in KeyRef key, in NewRecord next, int slackUnits)
    {
        *(ulong*)record = (ulong)next.Kind << 32 | (ulong)flags << 40 | (ulong)key.Length << 48;
        *(ulong*)(record + 8) = (uint)next.ValueBytes | (ulong)key.Namespace << 32 | (ulong)slackUnits << 56;
        WriteFields(record, flags, next);
    }

    /// <summary>Stores expiry, ETag and owner where the record has room for them.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void WriteFields(byte* record, byte flags, in NewRecord next)
    {
        if ((flags & FieldFlags) == 0)
            return;
        byte* field = record + HeaderBytes;
        if ((flags & TtlFlag) != 0)
        {
            *(long*)field = next.ExpireAtMs;
            field += FieldBytes;
        }
        if ((flags & ETagFlag) != 0)
            *(ulong*)field = next.ETag;
        if ((flags & OwnerFlag) != 0)
            *(ulong*)(record + KeyOffset(flags) - FieldBytes) = next.Owner;
    }

    /// <summary>True if the record has the fields that the new state needs.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool HasFields(byte flags, in NewRecord next) =>
        (next.ExpireAtMs == 0 || (flags & TtlFlag) != 0) && (next.ETag == 0 || (flags & ETagFlag) != 0)
            && (next.Owner == 0 || (flags & OwnerFlag) != 0);

    public static byte FlagsFor(in NewRecord next) =>
        (byte)((next.ExpireAtMs != 0 ? TtlFlag : 0) | (next.ETag != 0 ? ETagFlag : 0) | (next.Owner != 0 ? OwnerFlag : 0));

    /// <summary>
    /// The flags of a record in an extent of its own: what expires as a whole has the place for its time from the beginning, so that nothing so long is copied for one.
    /// </summary>
    public static byte FlagsInExtent(byte flags, RecordKind kind) => (byte)(flags | ExtentFlag | (kind == RecordKind.Chunk ? 0 : TtlFlag));

    /// <summary>A view of a record that cannot change meanwhile (the partition is locked).</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static RecordView View(byte* record, ulong word)
    {
        byte flags = Flags(record);
        int keyBytes = KeyBytes(record);
        byte* key = record + KeyOffset(flags);
        long expireAtMs = 0;
        ulong etag = 0;
        if ((flags & (TtlFlag | ETagFlag)) != 0)
        {
            expireAtMs = ExpireAtMs(record);
            etag = ETag(record);
        }
        return new RecordView(Kind(record), key + keyBytes, ValueBytes(record), key, keyBytes, expireAtMs, etag, IndexWord.Frequency(word));
    }

    /// <summary>
    /// Compares key bytes. Both sides have 16 readable bytes behind them, so that short keys need no byte loop.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool SameKey(byte* left, byte* right, int length)
    {
        if (length > 16)
            return new ReadOnlySpan<byte>(left, length).SequenceEqual(new ReadOnlySpan<byte>(right, length));
        if (length == 16)
            return Vector128.Load(left) == Vector128.Load(right);
        if (length >= 8)
            return ((*(ulong*)left ^ *(ulong*)right) | (*(ulong*)(left + length - 8) ^ *(ulong*)(right + length - 8))) == 0;
        return length == 0 || (*(ulong*)left ^ *(ulong*)right) << (64 - length * 8) == 0;
    }
}
