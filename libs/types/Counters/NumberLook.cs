using System.Runtime.CompilerServices;
using Tsavorite;

namespace Garnet.Types.Counters;

/// <summary>Copies the text of a number to where the caller has room for it.</summary>
public unsafe struct NumberLook : IRead
{
    private readonly byte* _to;
    private readonly int _room;

    public int Length;
    public bool WrongKind;
    public long ExpireAtMs;

    public NumberLook(Span<byte> room) // the span is on the caller's stack: it does not move
    {
        _to = (byte*)Unsafe.AsPointer(ref room[0]);
        _room = room.Length;
    }

    public void Look(in RecordView record)
    {
        WrongKind = record.Kind != RecordKind.String;
        Length = record.ValueBytes;
        ExpireAtMs = record.ExpireAtMs;
        if (!WrongKind && Length <= _room)
            Buffer.MemoryCopy(record.Value, _to, _room, Length);
    }
}
