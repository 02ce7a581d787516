using System.Runtime.CompilerServices;
using Garnet.Common.Resp;
using Tsavorite;

namespace Garnet.Types.Strings;

/// <summary>
/// Copies a string value out of the store straight into the reply as a bulk string: one copy, no look at the bytes before the
/// store has said that they were true. Too long a value is only measured; the caller makes room and asks again.
/// </summary>
public unsafe struct ValueCopy : IRead
{
    private const int HeaderBytes = 32;

    private readonly byte* _to;
    private readonly byte* _limit;

    /// <summary>The byte behind the reply, once copied.</summary>
    public byte* End;
    /// <summary>Length of the value.</summary>
    public int Length;
    /// <summary>True if the value did not fit.</summary>
    public bool TooSmall;
    /// <summary>True if the record is no string.</summary>
    public bool WrongKind;

    /// <summary>True if there is nowhere to copy to: the value is not wanted.</summary>
    public readonly bool IsNone => _to == null;

    public ValueCopy(RespWriter writer)
    {
        _to = writer.Room(HeaderBytes);
        _limit = writer.Limit;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)] // GetBenchmark
    public void Look(in RecordView record)
    {
        WrongKind = record.Kind != RecordKind.String;
        int length = record.ValueBytes;
        Length = length;
        TooSmall = _limit - _to < (long)length + HeaderBytes;
        if (TooSmall || WrongKind)
            return;
        byte* at = RespWriter.BulkHeader(_to, length);
        Copy(at, record.Value, length);
        End = RespWriter.EndLine(at + length);
    }

    /// <summary>Copies whole 32-byte vectors; up to 31 bytes behind both ends are touched (slack is there on both sides).</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // GetBenchmark: most values are short
    public static void Copy(byte* to, byte* from, int length)
    {
        if (length > 256)
        {
            Buffer.MemoryCopy(from, to, length, length);
            return;
        }

        for (int i = 0; i < length; i += 32)
            System.Runtime.Intrinsics.Vector256.Store(System.Runtime.Intrinsics.Vector256.Load(from + i), to + i);
    }
}
