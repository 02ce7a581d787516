using System.Buffers.Binary;
using System.Runtime.InteropServices;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>Sets what a stream knows beside its entries (XSETID).</summary>
public struct StreamSetId : IEdit
{
    public StreamId Last;
    /// <summary>Entries ever added, -1 to leave that.</summary>
    public long Added;
    /// <summary>The greatest id deleted, zero to leave that.</summary>
    public StreamId MaxDeleted;

    public bool Existed;
    public bool WrongKind;
    /// <summary>The last entry that is there has a greater id.</summary>
    public bool TooSmall;
    public bool TooFew;

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
