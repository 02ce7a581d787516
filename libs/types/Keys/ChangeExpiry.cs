using System.Buffers.Binary;
using Tsavorite;

namespace Garnet.Types.Keys;

/// <summary>Changes a key's expiry; a time that has come removes the key. Logged with the absolute time, unconditionally.</summary>
public struct ChangeExpiry : IModify
{
    public long ExpireAtMs;
    public long NowMs;
    public ExpireCondition Condition;

    /// <summary>True if there was a live record.</summary>
    public bool Existed;
    /// <summary>True if the record had an expiry.</summary>
    public bool HadExpiry;
    /// <summary>True if the expiry was changed or the key removed by it.</summary>
    public bool Applied;
    /// <summary>True if the time had come already.</summary>
    public bool Removed;

    public static byte OpId => 8;

    public static bool Replaces(ReadOnlySpan<byte> arguments) => arguments is [.., 1]; // it has removed the key

    public readonly bool IsBlind => Condition == 0 && ExpireAtMs != 0 && ExpireAtMs <= NowMs;

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
