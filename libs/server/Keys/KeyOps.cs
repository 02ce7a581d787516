using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Garnet.Server.Types.Collections;
using Garnet.Server.Types.Soundness;
using Tsavorite;

namespace Garnet.Server.Keys;

/// <summary>Puts a whole record under a key, replacing what is there: RENAME, COPY and MOVE as the log sees them.</summary>
internal unsafe struct PutRecord : IModify
{
    internal RecordKind Kind;
    internal byte* Value;
    internal int Length;
    internal long ExpireAtMs;
    internal ulong ETag;

    public static byte OpId => 7;

    public readonly long EncodedBytesMax => 17 + Length;

    public readonly Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        next.Kind = Kind;
        next.ValueBytes = Length;
        next.ExpireAtMs = ExpireAtMs;
        next.ETag = ETag;
        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) => new ReadOnlySpan<byte>(Value, Length).CopyTo(value);

    public readonly int Encode(Span<byte> to)
    {
        to[0] = (byte)Kind;
        BinaryPrimitives.WriteInt64LittleEndian(to[1..], ExpireAtMs);
        BinaryPrimitives.WriteUInt64LittleEndian(to[9..], ETag);
        new ReadOnlySpan<byte>(Value, Length).CopyTo(to[17..]);
        return 17 + Length;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < 17 || from[0] is 0 or > (byte)RecordKind.Stream)
            return false;
        Kind = (RecordKind)from[0];
        ExpireAtMs = BinaryPrimitives.ReadInt64LittleEndian(from[1..]);
        ETag = BinaryPrimitives.ReadUInt64LittleEndian(from[9..]);
        Length = from.Length - 17;
        Value = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(from)) + 17;
        return ValueCheck.IsSound(Kind, Value, Length);
    }
}

/// <summary>When EXPIRE takes effect.</summary>
[Flags]
internal enum ExpireCondition : byte
{
    Always = 0,
    /// <summary>NX: only without an expiry.</summary>
    IfNone = 1,
    /// <summary>XX: only with an expiry.</summary>
    IfAny = 2,
    /// <summary>GT: only later than now set; no expiry counts as infinite.</summary>
    IfLater = 4,
    /// <summary>LT: only earlier.</summary>
    IfEarlier = 8,
}

/// <summary>Changes a key's expiry; a time that has come removes the key. Logged with the absolute time, unconditionally.</summary>
internal struct ChangeExpiry : IModify
{
    internal long ExpireAtMs;
    internal long NowMs;
    internal ExpireCondition Condition;

    /// <summary>True if there was a live record.</summary>
    internal bool Existed;
    /// <summary>True if the record had an expiry.</summary>
    internal bool HadExpiry;
    /// <summary>True if the expiry was changed or the key removed by it.</summary>
    internal bool Applied;
    /// <summary>True if the time had come already.</summary>
    internal bool Removed;

    public static byte OpId => 8;

    public readonly long EncodedBytesMax => 9;

    public Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        Existed = existing.Exists;
        HadExpiry = existing.ExpireAtMs != 0;
        if (!Existed || !Holds(existing.ExpireAtMs))
            return Verdict.Keep;
        Applied = true;
        if (ExpireAtMs != 0 && ExpireAtMs <= NowMs)
        {
            Removed = true;
            return Verdict.Remove;
        }

        next.ExpireAtMs = ExpireAtMs; // the same time again is a change too: who watches the key is told, as in Redis
        return Verdict.PutFields;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace)
    {
    }

    public readonly int Encode(Span<byte> to)
    {
        BinaryPrimitives.WriteInt64LittleEndian(to, ExpireAtMs);
        to[8] = (byte)(Removed ? 1 : 0);
        return 9;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length != 9 || from[8] > 1)
            return false;
        ExpireAtMs = BinaryPrimitives.ReadInt64LittleEndian(from);
        NowMs = from[8] == 1 ? long.MaxValue : long.MinValue;
        return true;
    }

    private readonly bool Holds(long current)
    {
        if ((Condition & ExpireCondition.IfNone) != 0 && current != 0)
            return false;
        if ((Condition & ExpireCondition.IfAny) != 0 && current == 0)
            return false;
        if ((Condition & ExpireCondition.IfLater) != 0 && (current == 0 || ExpireAtMs <= current))
            return false;
        return (Condition & ExpireCondition.IfEarlier) == 0 || current == 0 || ExpireAtMs < current;
    }
}

/// <summary>
/// Remembers where a record is. True only while its partition is locked by the session: used between
/// <see cref="StoreSession.Lock"/> and <see cref="StoreSession.Unlock"/>.
/// </summary>
internal unsafe struct RecordGrip : IRead
{
    internal PutRecord Content;

    /// <summary>True if the value is not all there is.</summary>
    internal readonly bool HasChunks => Content.Kind != RecordKind.String && Root.IsChunked(Content.Value);

    public void Look(in RecordView record)
    {
        Content.Kind = record.Kind;
        Content.Value = record.Value;
        Content.Length = record.ValueBytes;
        Content.ExpireAtMs = record.ExpireAtMs;
        Content.ETag = record.ETag;
    }
}

/// <summary>Takes a record's fields, not its value.</summary>
internal struct FieldsLook : IRead
{
    internal RecordKind Kind;
    internal int ValueBytes;
    internal int KeyBytes;
    internal long ExpireAtMs;
    internal ulong ETag;
    internal int Frequency;

    public void Look(in RecordView record)
    {
        Kind = record.Kind;
        ValueBytes = record.ValueBytes;
        KeyBytes = record.KeyBytes;
        ExpireAtMs = record.ExpireAtMs;
        ETag = record.ETag;
        Frequency = record.Frequency;
    }
}
