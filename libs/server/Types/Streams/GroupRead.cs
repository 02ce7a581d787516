using System.Buffers.Binary;
using System.Runtime.InteropServices;
using Garnet.Common.Resp;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Types.Streams;

/// <summary>
/// Gives a consumer entries that nobody of its group had, or shows it those that are pending for it (XREADGROUP), and replies them.
/// Logged with how many they were.
/// </summary>
internal unsafe struct GroupRead : IEdit
{
    private const int FixedBytes = 1 + (2 * sizeof(long)) + StreamIds.IdBytes;
    private const byte LogsNoAck = 1, LogsHistory = 2;

    /// <summary>The group's name and the consumer's.</summary>
    internal Operands Names;
    internal long NowMs;
    /// <summary>Entries at most; afterwards their number.</summary>
    internal long Count;
    internal bool NoAck;
    /// <summary>What is pending, from behind this id on.</summary>
    internal bool IsHistory;
    internal StreamId After;
    /// <summary>Where the reply goes, null for nowhere.</summary>
    internal RespWriter? To;
    internal Arg Key;

    internal bool WrongKind;
    internal bool NoGroup;
    /// <summary>The consumer was not there before.</summary>
    internal bool IsNewConsumer;

    public static byte OpId => 36;

    public readonly int EncodedBytesMax => FixedBytes + Names.EncodedBytes();

    public bool Run(ref RecordEdit edit)
    {
        WrongKind = edit.Exists && edit.Kind != RecordKind.Stream;
        NoGroup = !StreamGroups.TryGroup(ref edit, Names, out int group);
        if (NoGroup)
            return false;
        int consumer = StreamGroups.FindOrAdd(ref edit, group, StreamGroups.ConsumerOf(Names), NowMs, out IsNewConsumer);
        if (consumer < 0)
            return false;
        StreamGroups.Open(ref edit, group, consumer)->SeenMs = NowMs;
        if (IsHistory)
            ShowPending(ref edit, group, consumer);
        else
            Deliver(ref edit, group, consumer);
        return IsNewConsumer || Count > 0;
    }

    public readonly int Encode(Span<byte> to)
    {
        to[0] = (byte)((NoAck ? LogsNoAck : 0) | (IsHistory ? LogsHistory : 0));
        BinaryPrimitives.WriteInt64LittleEndian(to[1..], NowMs);
        BinaryPrimitives.WriteInt64LittleEndian(to[9..], Count);
        MemoryMarshal.Write(to[17..], After);
        return FixedBytes + Names.Encode(to[FixedBytes..]);
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < FixedBytes || from[0] > (LogsNoAck | LogsHistory))
            return false;
        NoAck = (from[0] & LogsNoAck) != 0;
        IsHistory = (from[0] & LogsHistory) != 0;
        NowMs = BinaryPrimitives.ReadInt64LittleEndian(from[1..]);
        Count = BinaryPrimitives.ReadInt64LittleEndian(from[9..]);
        After = MemoryMarshal.Read<StreamId>(from[17..]);
        return Operands.TryDecode(from[FixedBytes..], out Names) && Names.Count == 2;
    }

    private void Deliver(ref RecordEdit edit, int group, int consumer)
    {
        GroupState state = StreamGroups.State(ref edit, group);
        long wanted = Count;
        Count = 0;
        if (state.Last == StreamId.Max)
            return;
        StreamWalk walk = StreamWalk.Between(ref edit, state.Last.Next, StreamId.Max), again = walk;
        var pending = new PendingState { DeliveredMs = NowMs, Deliveries = 1 };
        for (; Count < wanted && walk.Next(ref edit); Count++)
        {
            if (!NoAck && !StreamGroups.TryDeliver(ref edit, group, consumer, walk.Current.Id, pending))
                break;
            GroupLag.Advance(StreamForm.Header(ref edit), &state, walk.Current.Id);
        }

        if (Count == 0)
            return;
        StreamGroups.Open(ref edit, group, consumer)->ActiveMs = NowMs;
        GroupState* open = StreamGroups.Open(ref edit, group);
        open->Last = state.Last;
        open->Read = state.Read;
        if (To == null)
            return;
        ReadBehindLook.Begin(To, Key);
        StreamRangeLook.WriteRest(ref edit, To, ref again, Count);
    }

    private void ShowPending(ref RecordEdit edit, int group, int consumer)
    {
        ulong owner = StreamGroups.Owner(group, consumer);
        long wanted = Count;
        Count = 0;
        PendingPlace first = After == StreamId.Max ? new PendingPlace { Page = int.MaxValue } : StreamGroups.ByConsumer.Seek(ref edit, new PendingKey(owner, After.Next)), place = first;
        for (; Count < wanted && StreamGroups.ByConsumer.TryRead(ref edit, ref place, out PendingKey key, out _) && key.Owner == owner; Count++)
            place.Index++;
        if (To != null)
        {
            ReadBehindLook.Begin(To, Key);
            To.Array((int)Count);
        }

        place = first;
        for (long i = 0; i < Count && StreamGroups.ByConsumer.TryRead(ref edit, ref place, out PendingKey key, out _); i++, place.Index++)
            Show(ref edit, group, key.Id);
    }

    private readonly void Show(ref RecordEdit edit, int group, StreamId id)
    {
        bool isThere = StreamForm.TryFind(ref edit, id, out StreamPage page, out StreamEntry entry);
        if (isThere)
        {
            PendingState* pending = StreamGroups.OpenPending(ref edit, group, id);
            pending->DeliveredMs = NowMs;
            pending->Deliveries++;
        }

        if (To == null)
            return;
        if (isThere)
        {
            entry.Reply(page, To);
            return;
        }

        To.Array(2);
        StreamEntry.Reply(id, To);
        To.NullArray();
    }
}
