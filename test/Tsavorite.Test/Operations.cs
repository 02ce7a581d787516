namespace Tsavorite.Test;

/// <summary>Copies a value out.</summary>
internal unsafe struct CopyOut : IRead
{
    public byte[] Buffer;
    public int Length;
    public long ExpireAtMs;
    public ulong ETag;
    public RecordKind Kind;
    public int Frequency;

    public CopyOut() => Buffer = new byte[1 << 20];

    public CopyOut(byte[] buffer) => Buffer = buffer;

    public readonly ReadOnlySpan<byte> Span => Buffer.AsSpan(0, Length);

    public void Look(in RecordView record)
    {
        Length = Math.Min(record.ValueBytes, Buffer.Length);
        ExpireAtMs = record.ExpireAtMs;
        ETag = record.ETag;
        Kind = record.Kind;
        Frequency = record.Frequency;
        new ReadOnlySpan<byte>(record.Value, Length).CopyTo(Buffer);
    }
}

/// <summary>Overwrites the value and its fields.</summary>
internal struct SetValue : IModify
{
    public byte[] Value;
    public long ExpireAtMs;
    public ulong ETag;
    public RecordKind Kind;
    public bool Existed;

    public static byte OpId => 200;
    public readonly long EncodedBytesMax => 17 + Value.Length;

    public Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        Existed = existing.Exists;
        next.ValueBytes = Value.Length;
        next.ExpireAtMs = ExpireAtMs;
        next.ETag = ETag;
        next.Kind = Kind == RecordKind.None ? RecordKind.String : Kind;
        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) => Value.CopyTo(value);

    public readonly int Encode(Span<byte> to)
    {
        BitConverter.TryWriteBytes(to, ExpireAtMs);
        BitConverter.TryWriteBytes(to[8..], ETag);
        to[16] = (byte)Kind;
        Value.CopyTo(to[17..]);
        return 17 + Value.Length;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < 17) return false;
        ExpireAtMs = BitConverter.ToInt64(from);
        ETag = BitConverter.ToUInt64(from[8..]);
        Kind = (RecordKind)from[16];
        Value = from[17..].ToArray();
        return true;
    }
}

/// <summary>Adds bytes behind the value, keeping all fields.</summary>
internal struct AppendBytes : IModify
{
    public byte[] Tail;
    public static byte OpId => 201;
    public readonly long EncodedBytesMax => Tail.Length;

    public readonly Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        next.ValueBytes = existing.ValueBytes + Tail.Length;
        return Verdict.Put;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace)
    {
        if (!inPlace) existing.ValueSpan.CopyTo(value);
        Tail.CopyTo(value[(value.Length - Tail.Length)..]);
    }

    public readonly int Encode(Span<byte> to)
    {
        Tail.CopyTo(to);
        return Tail.Length;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        Tail = from.ToArray();
        return true;
    }
}

/// <summary>Changes expiry, ETag and kind alone; nothing on an absent key.</summary>
internal struct SetFields : IModify
{
    public long ExpireAtMs;
    public ulong ETag;
    public static byte OpId => 202;
    public readonly long EncodedBytesMax => 16;

    public readonly Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        if (!existing.Exists) return Verdict.Keep;
        next.ExpireAtMs = ExpireAtMs;
        next.ETag = ETag;
        return Verdict.PutFields;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) { }

    public readonly int Encode(Span<byte> to)
    {
        BitConverter.TryWriteBytes(to, ExpireAtMs);
        BitConverter.TryWriteBytes(to[8..], ETag);
        return 16;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length != 16) return false;
        ExpireAtMs = BitConverter.ToInt64(from);
        ETag = BitConverter.ToUInt64(from[8..]);
        return true;
    }
}

/// <summary>Looks and changes nothing.</summary>
internal struct Refuse : IModify
{
    public static byte OpId => 203;
    public readonly long EncodedBytesMax => 0;
    public readonly Verdict Plan(in RecordView existing, ref NewRecord next) => Verdict.Keep;
    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) { }
    public readonly int Encode(Span<byte> to) => 0;
    public readonly bool TryDecode(ReadOnlySpan<byte> from) => true;
}
