using System.Runtime.InteropServices;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>Adds an entry (XADD); makes the stream if there is none. Logged with the id it got.</summary>
public struct StreamAdd : IEdit, IAdds
{
    public IdChoice Choice;
    /// <summary>The new entry's id; before, as much of it as was said, or the clock.</summary>
    public StreamId Id;
    public Operands Fields;
    public bool OnlyIfThere;
    public StreamLimits Limits;

    public bool WrongKind;
    public bool Missing;
    public bool TooSmall;
    /// <summary>There is no greater id than the last one.</summary>
    public bool Exhausted;

    public static byte OpId => 29;

    public readonly bool HasAdded => true;

    public readonly long EncodedBytesMax => StreamIds.IdBytes + Fields.EncodedBytes();

    public bool Run(ref RecordEdit edit)
    {
        if (!TryBegin(ref edit, out bool isNew))
            return false;
        if (TryAppend(ref edit))
            return true;
        if (isNew)
            edit.Remove();
        return false;
    }

    /// <summary>Looks whether there may be an entry, chooses its id and makes the stream; false if not, and nothing has changed.</summary>
    public unsafe bool TryBegin(ref RecordEdit edit, out bool isNew)
    {
        isNew = !edit.Exists;
        WrongKind = !isNew && edit.Kind != RecordKind.Stream;
        Missing = isNew && OnlyIfThere;
        if (WrongKind || Missing)
            return false;
        StreamId last = isNew ? StreamId.Min : StreamForm.Header(ref edit)->Last;
        Exhausted = last == StreamId.Max;
        return !Exhausted && Choose(last) && (!isNew || StreamForm.TryCreate(ref edit));
    }

    /// <summary>Adds the entry to the stream, which is there; false if there is no memory.</summary>
    public readonly bool TryAppend(ref RecordEdit edit) => StreamForm.TryAppend(ref edit, Id, Fields, Limits);

    public readonly int Encode(Span<byte> to)
    {
        MemoryMarshal.Write(to, Id);
        return StreamIds.IdBytes + Fields.Encode(to[StreamIds.IdBytes..]);
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < StreamIds.IdBytes)
            return false;
        Id = MemoryMarshal.Read<StreamId>(from);
        Limits = StreamLimits.Replay;
        return Operands.TryDecode(from[StreamIds.IdBytes..], out Fields) && Fields.Count > 0 && Fields.Count % 2 == 0;
    }

    private bool Choose(StreamId last)
    {
        if (Choice == IdChoice.Next)
            Id = Id.Ms > last.Ms ? new StreamId(Id.Ms, 0) : last.Next;
        else if (Choice == IdChoice.NextInMs && Id.Ms == last.Ms)
            Id = last.Seq < ulong.MaxValue ? last.Next : last;
        TooSmall = Id <= last;
        return !TooSmall;
    }
}
