using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Types.Streams;

/// <summary>How much of a new entry's id the caller has said.</summary>
internal enum IdChoice : byte
{
    /// <summary>All of it.</summary>
    Given,
    /// <summary>The milliseconds.</summary>
    NextInMs,
    /// <summary>Nothing: the clock's, or the one behind the last.</summary>
    Next,
}

/// <summary>An edit that may add an entry.</summary>
internal interface IAdds
{
    /// <summary>It did, if it is done.</summary>
    bool HasAdded { get; }
}

/// <summary>Adds an entry (XADD); makes the stream if there is none. Logged with the id it got.</summary>
internal struct StreamAdd : IEdit, IAdds
{
    internal IdChoice Choice;
    /// <summary>The new entry's id; before, as much of it as was said, or the clock.</summary>
    internal StreamId Id;
    internal Operands Fields;
    internal bool OnlyIfThere;
    internal StreamLimits Limits;

    internal bool WrongKind;
    internal bool Missing;
    internal bool TooSmall;
    /// <summary>There is no greater id than the last one.</summary>
    internal bool Exhausted;

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
    internal unsafe bool TryBegin(ref RecordEdit edit, out bool isNew)
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
    internal readonly bool TryAppend(ref RecordEdit edit) => StreamForm.TryAppend(ref edit, Id, Fields, Limits);

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

/// <summary>Sets what a stream knows beside its entries (XSETID).</summary>
internal struct StreamSetId : IEdit
{
    internal StreamId Last;
    /// <summary>Entries ever added, -1 to leave that.</summary>
    internal long Added;
    /// <summary>The greatest id deleted, zero to leave that.</summary>
    internal StreamId MaxDeleted;

    internal bool Existed;
    internal bool WrongKind;
    /// <summary>The last entry that is there has a greater id.</summary>
    internal bool TooSmall;
    internal bool TooFew;

    public static byte OpId => 32;

    private const int Bytes = (2 * StreamIds.IdBytes) + sizeof(long);

    public readonly long EncodedBytesMax => Bytes;

    public unsafe bool Run(ref RecordEdit edit)
    {
        Existed = edit.Exists;
        WrongKind = Existed && edit.Kind != RecordKind.Stream;
        if (!Existed || WrongKind || IsRefused(ref edit))
            return false;
        StreamHeader* root = StreamForm.Open(ref edit);
        root->Last = Last;
        if (Added >= 0)
            root->Added = Added;
        if (!MaxDeleted.IsZero)
            root->MaxDeleted = MaxDeleted;
        edit.Close();
        return true;
    }

    public readonly int Encode(Span<byte> to)
    {
        MemoryMarshal.Write(to, Last);
        MemoryMarshal.Write(to[StreamIds.IdBytes..], MaxDeleted);
        BinaryPrimitives.WriteInt64LittleEndian(to[(2 * StreamIds.IdBytes)..], Added);
        return Bytes;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length != Bytes)
            return false;
        Last = MemoryMarshal.Read<StreamId>(from);
        MaxDeleted = MemoryMarshal.Read<StreamId>(from[StreamIds.IdBytes..]);
        Added = BinaryPrimitives.ReadInt64LittleEndian(from[(2 * StreamIds.IdBytes)..]);
        return true;
    }

    // What is refused would make the stream say what is not so: ids that are in use, fewer entries than there are.
    private unsafe bool IsRefused(ref RecordEdit edit)
    {
        StreamHeader* root = StreamForm.Header(ref edit);
        if (root->Length == 0)
            return false;
        KeptPlaces places;
        StreamWalk walk = StreamWalk.Backwards(ref edit, StreamId.Min, StreamId.Max, &places);
        TooSmall = walk.Next(ref edit) && Last < walk.Current.Id;
        TooFew = !TooSmall && Added >= 0 && root->Length > Added;
        return TooSmall || TooFew;
    }
}
