using System.Runtime.CompilerServices;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// One entry of a collection and how it lies in memory: length of the key, then for pairs twice the length of the value plus one if
/// there is an expiry (both as <see cref="VarInt"/>), then key, value, expiry (8 bytes, Unix milliseconds). A scored entry has no
/// length of the value: it says by the highest bit of the key's that there is an expiry, so that one without takes no more for it.
/// Pointers into the record, valid while nothing changes it.
/// </summary>
public unsafe struct Entry
{
    public const uint ExpiryBytes = 8, ScoreBytes = 8;
    private const uint ScoredExpires = 1u << 31;

    /// <summary>First byte of the entry; null if there is none.</summary>
    public byte* Start;
    public byte* Key;
    public byte* Value;
    public int KeyBytes;
    public int ValueBytes;
    /// <summary>Bytes of the whole entry.</summary>
    public int Bytes;
    /// <summary>Unix milliseconds, 0 = never.</summary>
    public long ExpireAtMs;

    public readonly ReadOnlySpan<byte> KeySpan => new(Key, KeyBytes);

    public readonly ReadOnlySpan<byte> ValueSpan => new(Value, ValueBytes);

    /// <summary>The score of a <see cref="EntryForm.Scored"/> entry.</summary>
    public readonly double Score => Unsafe.ReadUnaligned<double>(Value);

    /// <summary>True if the entry's time has come.</summary>
    public readonly bool IsDue(long nowMs) => ExpireAtMs != 0 && ExpireAtMs <= nowMs;

    /// <summary>True if the key is this; behind both lie 16 readable bytes.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // CollectionCost: runs for every entry looked at
    public readonly bool Is(byte* key, int keyBytes) => KeyBytes == keyBytes && RecordEdit.SameBytes(Key, key, keyBytes);

    /// <summary>Bytes that an entry with these parts takes.</summary>
    public static long BytesOf(EntryForm form, in Entry parts)
    {
        long bytes = VarInt.BytesOf(KeyWord(form, parts)) + (long)parts.KeyBytes;
        return form switch
        {
            EntryForm.Member => bytes,
            EntryForm.Scored => bytes + ScoreBytes + (parts.ExpireAtMs != 0 ? ExpiryBytes : 0),
            _ => bytes + VarInt.BytesOf(ValueWord(parts)) + parts.ValueBytes + (parts.ExpireAtMs != 0 ? ExpiryBytes : 0),
        };
    }

    /// <summary>Writes an entry with these parts; there is room for <see cref="BytesOf"/>. Returns the byte behind it.</summary>
    public static byte* Write(EntryForm form, byte* to, in Entry parts)
    {
        to = VarInt.Write(to, KeyWord(form, parts));
        if (form == EntryForm.Pair)
            to = VarInt.Write(to, ValueWord(parts));
        Buffer.MemoryCopy(parts.Key, to, parts.KeyBytes, parts.KeyBytes);
        to += parts.KeyBytes;
        if (form == EntryForm.Member)
            return to;
        Buffer.MemoryCopy(parts.Value, to, parts.ValueBytes, parts.ValueBytes);
        to += parts.ValueBytes;
        if (parts.ExpireAtMs == 0)
            return to;
        Unsafe.WriteUnaligned(to, parts.ExpireAtMs);
        return to + ExpiryBytes;
    }

    /// <summary>Reads the entry at the place; false if it is not whole before the end (bytes being overwritten say anything).</summary>
    public static bool TryRead(EntryForm form, byte* at, byte* end, out Entry entry)
    {
        byte* next = Measure(form, at, end, out byte* key, out uint keyBytes, out uint expiryBytes);
        if (next == null)
        {
            entry = default;
            return false;
        }

        entry.Start = at;
        entry.Key = key;
        entry.KeyBytes = (int)keyBytes;
        entry.Value = key + keyBytes;
        entry.ValueBytes = (int)(next - entry.Value - expiryBytes);
        entry.Bytes = (int)(next - at);
        entry.ExpireAtMs = expiryBytes != 0 ? Unsafe.ReadUnaligned<long>(next - ExpiryBytes) : 0;
        return true;
    }

    /// <summary>Finds the parts of the entry at the place; returns the byte behind it, null if it is not whole before the end.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // CollectionCost: runs for every entry looked at, in registers
    public static byte* Measure(EntryForm form, byte* at, byte* end, out byte* key, out uint keyBytes, out uint expiryBytes)
    {
        key = null;
        expiryBytes = 0;
        uint word = 0;
        if (!VarInt.TryRead(ref at, end, out keyBytes) || (form == EntryForm.Pair && !VarInt.TryRead(ref at, end, out word)))
            return null;
        uint valueBytes = word >> 1;
        if (form == EntryForm.Scored)
        {
            word = keyBytes >> 31;
            keyBytes &= ~ScoredExpires;
            valueBytes = ScoreBytes;
        }

        key = at;
        expiryBytes = (word & 1) * ExpiryBytes;
        ulong bytes = (ulong)keyBytes + valueBytes + expiryBytes;
        return (ulong)(end - at) < bytes ? null : at + bytes;
    }

    private static uint KeyWord(EntryForm form, in Entry parts) =>
        form == EntryForm.Scored && parts.ExpireAtMs != 0 ? (uint)parts.KeyBytes | ScoredExpires : (uint)parts.KeyBytes;

    private static uint ValueWord(in Entry parts) => ((uint)parts.ValueBytes << 1) | (parts.ExpireAtMs != 0 ? 1u : 0u);
}
