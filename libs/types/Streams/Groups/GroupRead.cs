using System.Buffers.Binary;
using System.Runtime.InteropServices;
using Garnet.Common.Bytes;
using Garnet.Common.Faults;
using Garnet.Common.Resp;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>
/// Gives a consumer entries that nobody of its group had, before them those that others have left alone too long (CLAIM), or shows it
/// those that are pending for it (XREADGROUP), and replies them. Logged with how many they were.
/// </summary>
public unsafe struct GroupRead : IEdit
{
    private const int FixedBytes = 1 + (2 * sizeof(long)) + StreamIds.IdBytes;
    private const byte LogsNoAck = 1, LogsHistory = 2, LogsClaims = 4;
    private const int ClaimBytes = 2 * sizeof(long);

    /// <summary>The group's name and the consumer's.</summary>
    public Operands Names;
    public long NowMs;
    /// <summary>Entries at most; afterwards their number.</summary>
    public long Count;
    public bool NoAck;
    /// <summary>What is pending, from behind this id on.</summary>
    public bool IsHistory;
    public StreamId After;
    public DueClaims Claims;
    /// <summary>Where the reply goes, null for nowhere.</summary>
    public RespWriter? To;
    public Arg Key;

    public bool WrongKind;
    public bool NoGroup;
    /// <summary>The consumer was not there before.</summary>
    public bool IsNewConsumer;
    /// <summary>Entries that were given, shown or claimed.</summary>
    public long Given;

    public static byte OpId => 36;

    public readonly long EncodedBytesMax => FixedBytes + ClaimBytes + Names.EncodedBytes();

    public bool Run(ref RecordEdit edit)
    {
        WrongKind = edit.Exists && edit.Kind != RecordKind.Stream;
        NoGroup = !StreamGroups.TryGroup(ref edit, Names, out int group);
        if (NoGroup)
            return false;
        if (edit.MayLack)
            LookAhead(ref edit, new ClaimTarget(group, StreamGroups.Consumers(ref edit, group).Find(StreamGroups.ConsumerOf(Names))));
        int consumer = StreamGroups.FindOrAdd(ref edit, group, StreamGroups.ConsumerOf(Names), NowMs, out IsNewConsumer);
        if (consumer < 0)
            return false;
        StreamGroups.Open(ref edit, group, consumer)->SeenMs = NowMs;
        long claimed = 0;
        if (IsHistory)
            ShowPending(ref edit, group, consumer);
        else
            claimed = ClaimAndDeliver(ref edit, new ClaimTarget(group, consumer));
        Given = Count + claimed;
        return IsNewConsumer || Given > 0 || (Claims.IsOn && Claims.Tries > 0);
    }

    public readonly int Encode(Span<byte> to)
    {
        bool claims = Claims.IsOn && !IsHistory;
        to[0] = (byte)((NoAck ? LogsNoAck : 0) | (IsHistory ? LogsHistory : 0) | (claims ? LogsClaims : 0));
        BinaryPrimitives.WriteInt64LittleEndian(to[1..], NowMs);
        BinaryPrimitives.WriteInt64LittleEndian(to[9..], Count);
        MemoryMarshal.Write(to[17..], After);
        if (!claims)
            return FixedBytes + Names.Encode(to[FixedBytes..]);
        BinaryPrimitives.WriteInt64LittleEndian(to[FixedBytes..], Claims.MinIdleMs);
        BinaryPrimitives.WriteInt64LittleEndian(to[(FixedBytes + sizeof(long))..], Claims.Tries);
        return FixedBytes + ClaimBytes + Names.Encode(to[(FixedBytes + ClaimBytes)..]);
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < FixedBytes || from[0] > (LogsNoAck | LogsHistory | LogsClaims))
            return false;
        NoAck = (from[0] & LogsNoAck) != 0;
        IsHistory = (from[0] & LogsHistory) != 0;
        NowMs = BinaryPrimitives.ReadInt64LittleEndian(from[1..]);
        Count = BinaryPrimitives.ReadInt64LittleEndian(from[9..]);
        After = MemoryMarshal.Read<StreamId>(from[17..]);
        bool claims = (from[0] & LogsClaims) != 0;
        from = from[FixedBytes..];
        if (claims && from.Length < ClaimBytes)
            return false;
        if (claims)
        {
            Claims = DueClaims.Of(BinaryPrimitives.ReadInt64LittleEndian(from));
            Claims.Tries = BinaryPrimitives.ReadInt64LittleEndian(from[sizeof(long)..]);
            from = from[ClaimBytes..];
        }

        return Operands.TryDecode(from, out Names) && Names.Count == 2;
    }

    private readonly void LookAhead(ref RecordEdit edit, in ClaimTarget target)
    {
        if (IsHistory && target.Consumer >= 0 && After != StreamId.Max)
            LookAtHistory(ref edit, target);
        if (IsHistory)
            return;
        if (Claims.IsOn)
            Claims.LookAhead(ref edit, target, ClaimsMax, NowMs);
        StreamId last = StreamGroups.State(ref edit, target.Group).Last;
        if (last != StreamId.Max)
            StreamWalk.Between(ref edit, last.Next, StreamId.Max).Count(ref edit, Count);
    }

    private readonly long ClaimsMax => To == null ? long.MaxValue : Count;

    private readonly void LookAtHistory(ref RecordEdit edit, in ClaimTarget target)
    {
        var shown = default(ByteQueue);
        try
        {
            var first = new PendingKey(StreamGroups.Owner(target.Group, target.Consumer), After.Next);
            IdsAhead.Note(ref edit, StreamGroups.ByConsumer, first, Math.Min(Count, Streams.Claims.Most), ref shown);
            StreamIds ids = StreamIds.Noted(shown);
            IdsAhead.LookAtEntries(ref edit, ids);
            IdsAhead.LookAtPending(ref edit, target.Group, ids, new PendingState { When = NowMs, Consumer = target.Consumer });
        }
        finally
        {
            shown.Free(); // common.Q1
        }
    }

    private long ClaimAndDeliver(ref RecordEdit edit, in ClaimTarget target)
    {
        if (Claims.IsOn)
            Claims.Run(ref edit, target, ClaimsMax, NowMs);
        long claimed = Claims.Count;
        Count = To == null ? Count : Count - claimed; // the log says how many were new
        StreamWalk walk = Deliver(ref edit, target);
        if (To != null && claimed + Count > 0)
            Reply(ref edit, ref walk, claimed);
        Claims.Free();
        return claimed;
    }

    // Gives entries that are new to the group; the walk stands at the first of them.
    private StreamWalk Deliver(ref RecordEdit edit, in ClaimTarget target)
    {
        GroupState state = StreamGroups.State(ref edit, target.Group);
        long wanted = Count;
        Count = 0;
        if (state.Last == StreamId.Max)
            return default;
        StreamWalk walk = StreamWalk.Between(ref edit, state.Last.Next, StreamId.Max), first = default;
        var pending = new PendingState { When = NowMs, Deliveries = 1, Consumer = target.Consumer };
        for (; Count < wanted && walk.Next(ref edit); Count++)
        {
            if (!NoAck && !StreamGroups.TryPut(ref edit, target.Group, walk.Current.Id, pending))
                break;
            GroupLag.Advance(StreamForm.Header(ref edit), &state, walk.Current.Id);
            if (Count == 0)
                first = walk;
        }

        if (Count == 0)
            return first;
        StreamGroups.Open(ref edit, target.Group, target.Consumer)->ActiveMs = NowMs;
        GroupState* open = StreamGroups.Open(ref edit, target.Group);
        open->Last = state.Last;
        open->Read = state.Read;
        return first;
    }

    private readonly void Reply(ref RecordEdit edit, ref StreamWalk walk, long claimed)
    {
        ReadBehindLook.Begin(To!, Key);
        if (!Claims.IsOn)
        {
            To!.Array((int)Count);
            for (long i = 0; i < Count; i++, walk.Next(ref edit))
                walk.Current.Reply(walk.Page, To);
            return;
        }

        To!.Array((int)(claimed + Count));
        Claims.Reply(ref edit, To);
        for (long i = 0; i < Count; i++, walk.Next(ref edit))
            DueClaims.Reply(walk.Current, walk.Page, 0, 0, To);
    }

    private void ShowPending(ref RecordEdit edit, int group, int consumer)
    {
        ulong owner = StreamGroups.Owner(group, consumer);
        long wanted = Count;
        Count = 0;
        MapPlace first = After == StreamId.Max
            ? new MapPlace { Page = int.MaxValue }
            : StreamGroups.ByConsumer.Seek(ref edit, new PendingKey(owner, After.Next));
        MapPlace place = first;
        for (; Count < wanted && StreamGroups.ByConsumer.TryRead(ref edit, ref place, out PendingKey key, out _)
            && key.Owner == owner; Count++)
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
            PendingState pending = *StreamGroups.Pending(ref edit, group, id);
            Check.That(StreamGroups.TryPut(ref edit, group, id, pending with { When = NowMs, Deliveries = pending.DeliveriesAndOne }),
                "store.E4 a time can be changed while there is address space");
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
