using System.Buffers.Binary;
using System.Runtime.InteropServices;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>
/// Adds an entry once, however often its producer sends it (XADD IDMP), or sets how long that is remembered (XCFGSET). Logged with the
/// id it got and the clock. An entry that was added before is logged as well, so that its reply waits until the first one is kept.
/// </summary>
public unsafe struct StreamProduce : IEdit, IAdds
{
    private const int FixedBytes = 1 + sizeof(long) + sizeof(ulong) + (2 * StreamIds.IdBytes) + (2 * sizeof(int));

    public ProduceAction Action;
    public StreamAdd Entry;
    public ProducedId Produced;
    public long NowMs;
    /// <summary>The limits of a stream that has none yet; those that were set.</summary>
    public ProducerLimits Limits;
    /// <summary>The limits to be set, 0 for as before.</summary>
    public ProducerLimits Wanted;

    public static byte OpId => 41;

    public readonly bool HasAdded => Action == ProduceAction.Add;

    public readonly long EncodedBytesMax => FixedBytes + Entry.Fields.EncodedBytes();

    public bool Run(ref RecordEdit edit)
    {
        if (Action == ProduceAction.SetLimits)
            return TrySetLimits(ref edit);
        bool isStream = edit.Exists && edit.Kind == RecordKind.Stream;
        if (isStream && StreamProducers.TryFind(ref edit, Produced, NowMs, out StreamId before))
            return Repeat(ref edit, before);
        if (Action == ProduceAction.Repeat || !Entry.TryBegin(ref edit, out bool isNew))
            return false;
        var note = new ProducedNote(Produced, Entry.Id);
        bool isReserved = note.TryReserve(ref edit, Limits);
        if (isReserved && Entry.TryAppend(ref edit))
        {
            note.Keep(ref edit, NowMs);
            StreamProducers.Forget(ref edit, Produced.Producer, NowMs);
            return true;
        }

        if (isReserved)
            note.Undo(ref edit);
        if (isNew)
            edit.Remove();
        return false;
    }

    public readonly int Encode(Span<byte> to)
    {
        to[0] = (byte)Action;
        BinaryPrimitives.WriteInt64LittleEndian(to[1..], NowMs);
        MemoryMarshal.Write(to[9..], Produced);
        MemoryMarshal.Write(to[33..], Limits);
        MemoryMarshal.Write(to[41..], Entry.Id);
        return FixedBytes + (Action == ProduceAction.Add ? Entry.Fields.Encode(to[FixedBytes..]) : 0);
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < FixedBytes || from[0] > (byte)ProduceAction.SetLimits)
            return false;
        Action = (ProduceAction)from[0];
        NowMs = BinaryPrimitives.ReadInt64LittleEndian(from[1..]);
        Produced = MemoryMarshal.Read<ProducedId>(from[9..]);
        Wanted = Limits = MemoryMarshal.Read<ProducerLimits>(from[33..]);
        return Limits.AreValid && (Action == ProduceAction.Add ? Entry.TryDecode(from[41..]) : from.Length == FixedBytes);
    }

    private bool Repeat(ref RecordEdit edit, StreamId before)
    {
        Action = ProduceAction.Repeat;
        Entry.Id = before;
        StreamProducers.Open(ref edit)->Duplicates++;
        return true;
    }

    private bool TrySetLimits(ref RecordEdit edit)
    {
        Entry.Missing = !edit.Exists;
        Entry.WrongKind = edit.Exists && edit.Kind != RecordKind.Stream;
        if (Entry.Missing || Entry.WrongKind)
            return false;
        ProducerLimits before = StreamProducers.TryState(ref edit, out ProducersState state) ? state.Limits : Limits;
        Limits = new ProducerLimits(Wanted.Seconds > 0 ? Wanted.Seconds : before.Seconds, Wanted.Names > 0 ? Wanted.Names : before.Names);
        return StreamProducers.TrySet(ref edit, Limits);
    }
}
