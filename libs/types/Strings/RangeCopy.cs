using Garnet.Common.Resp;
using Tsavorite;

namespace Garnet.Types.Strings;

/// <summary>Copies a range of a string into the reply; negative positions count from the end.</summary>
public unsafe struct RangeCopy : IRead
{
    private readonly byte* _to;
    private readonly long _room;
    private readonly long _start;
    private readonly long _end;

    public byte* End;
    public bool WrongKind;
    /// <summary>Room needed, if there was too little; else 0.</summary>
    public int Needed;

    public RangeCopy(RespWriter writer, long start, long end)
    {
        _to = writer.Room(64);
        _room = writer.Limit - _to;
        _start = start;
        _end = end;
    }

    public void Look(in RecordView record)
    {
        WrongKind = record.Kind != RecordKind.String;
        Needed = 0;
        if (WrongKind)
            return;
        (long from, long count) = Clamp(_start, _end, record.ValueBytes);
        if (_room < count + 32)
        {
            Needed = (int)count;
            return;
        }

        byte* at = RespWriter.BulkHeader(_to, (int)count);
        Buffer.MemoryCopy(record.Value + from, at, _room, count);
        End = RespWriter.EndLine(at + count);
    }

    /// <summary>First position and number of bytes that the range covers of a value of <paramref name="length"/> bytes.</summary>
    public static (long From, long Count) Clamp(long start, long end, long length)
    {
        if (start < 0 && end < 0 && start > end)
            return (0, 0);
        if (start < 0)
            start = Math.Max(start + length, 0);
        if (end < 0)
            end = Math.Max(end + length, 0);
        end = Math.Min(end, length - 1);
        return length == 0 || start > end ? (0, 0) : (start, end - start + 1);
    }
}
