using System.Buffers.Binary;
using Tsavorite;

namespace Garnet.Types.Strings;

/// <summary>Copies the value out, then removes the key (GETDEL) or changes its expiry (GETEX).</summary>
public struct TakeOrTouch : IModify
{
    public ValueCopy Old;
    public bool Remove;
    public bool ChangesExpiry;
    public long ExpireAtMs;
    public bool Existed;

    public static byte OpId => 6;

    public static bool Replaces(ReadOnlySpan<byte> arguments) => arguments is [1, ..];

    public readonly bool IsBlind => Remove && Old.IsNone; // as the log has it: nobody wants what it held

    public readonly long EncodedBytesMax => 9;

    public Verdict Plan(in RecordView existing, ref NewRecord next)
    {
        Existed = existing.Exists;
        if (!Existed)
            return Verdict.Keep;
        if (!Old.IsNone)
        {
            Old.Look(in existing);
            if (Old.WrongKind || Old.TooSmall)
                return Verdict.Keep;
        }

        if (Remove)
            return Verdict.Remove;
        if (!ChangesExpiry || (ExpireAtMs == 0 && existing.ExpireAtMs == 0))
            return Verdict.Keep;
        next.ExpireAtMs = ExpireAtMs;
        return Verdict.PutFields;
    }

    public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace)
    {
    }

    public readonly int Encode(Span<byte> to)
    {
        to[0] = (byte)(Remove ? 1 : 0);
        BinaryPrimitives.WriteInt64LittleEndian(to[1..], ExpireAtMs);
        return 9;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length != 9 || from[0] > 1)
            return false;
        Remove = from[0] == 1;
        ChangesExpiry = true;
        ExpireAtMs = BinaryPrimitives.ReadInt64LittleEndian(from[1..]);
        return true;
    }
}
