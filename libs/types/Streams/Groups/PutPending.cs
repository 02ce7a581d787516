using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>Tells a group of a consumer and what is pending for it, or of what was released, as another server knew it (RESTORE).</summary>
public unsafe struct PutPending : IEdit
{
    private const int FixedBytes = (2 * sizeof(long)) + sizeof(int);

    /// <summary>The group's name and the consumer's; the group's alone for what was released.</summary>
    public Operands Names;
    public long SeenMs;
    public long ActiveMs;
    public PendingPiece* Pieces;
    public int Count;

    public static byte OpId => 40;

    public readonly long EncodedBytesMax => FixedBytes + ((long)Count * PendingPiece.Bytes) + Names.EncodedBytes();

    public bool Run(ref RecordEdit edit)
    {
        if (!StreamGroups.TryGroup(ref edit, Names, out int group))
            return false;
        int consumer = PendingState.Nobody;
        if (Names.Count > 1 && !TryConsumer(ref edit, group, out consumer))
            return false;
        int done = 0;
        while (done < Count && TryPut(ref edit, group, consumer, Unsafe.ReadUnaligned<PendingPiece>(Pieces + done)))
            done++;
        Count = done;
        return true;
    }

    public readonly int Encode(Span<byte> to)
    {
        BinaryPrimitives.WriteInt64LittleEndian(to, SeenMs);
        BinaryPrimitives.WriteInt64LittleEndian(to[sizeof(long)..], ActiveMs);
        BinaryPrimitives.WriteInt32LittleEndian(to[(2 * sizeof(long))..], Count);
        new ReadOnlySpan<byte>(Pieces, Count * PendingPiece.Bytes).CopyTo(to[FixedBytes..]);
        int bytes = FixedBytes + (Count * PendingPiece.Bytes);
        return bytes + Names.Encode(to[bytes..]);
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < FixedBytes)
            return false;
        SeenMs = BinaryPrimitives.ReadInt64LittleEndian(from);
        ActiveMs = BinaryPrimitives.ReadInt64LittleEndian(from[sizeof(long)..]);
        Count = BinaryPrimitives.ReadInt32LittleEndian(from[(2 * sizeof(long))..]);
        from = from[FixedBytes..];
        if (Count < 0 || Count > from.Length / PendingPiece.Bytes)
            return false;
        Pieces = (PendingPiece*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(from));
        return Operands.TryDecode(from[(Count * PendingPiece.Bytes)..], out Names) && Names.Count is >= 1 and <= 2;
    }

    private readonly bool TryConsumer(ref RecordEdit edit, int group, out int consumer)
    {
        consumer = StreamGroups.FindOrAdd(ref edit, group, StreamGroups.ConsumerOf(Names), SeenMs, out _);
        if (consumer < 0)
            return false;
        ConsumerState* state = StreamGroups.Open(ref edit, group, consumer);
        (state->SeenMs, state->ActiveMs) = (SeenMs, ActiveMs);
        return true;
    }

    private static bool TryPut(ref RecordEdit edit, int group, int consumer, in PendingPiece piece) => consumer == PendingState.Nobody
        ? StreamGroups.TryRelease(ref edit, group, piece.Id, piece.Deliveries)
        : StreamGroups.TryPut(ref edit, group, piece.Id,
            new PendingState { When = piece.DeliveredMs, Deliveries = piece.Deliveries, Consumer = consumer });
}
