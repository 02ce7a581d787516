using System.Buffers.Binary;
using System.Runtime.InteropServices;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>Gives pending entries, one after the other, to a consumer (XAUTOCLAIM) and replies them.</summary>
public unsafe struct GroupAutoClaim : IEdit
{
    private const int FixedBytes = StreamIds.IdBytes + (2 * sizeof(long));
    private const int LooksPerEntry = 10;

    /// <summary>The group's name and the consumer's.</summary>
    public Operands Names;
    public ClaimTerms Terms;
    public StreamId From;
    public long Count;
    public RespWriter? To;

    public ClaimStart Start;
    private long _looks;

    public static byte OpId => 38;

    public readonly long EncodedBytesMax => ClaimTerms.Bytes + FixedBytes + Names.EncodedBytes();

    public bool Run(ref RecordEdit edit)
    {
        if (edit.MayLack && StreamGroups.TryGroup(ref edit, Names, out int group))
            LookAhead(ref edit, group);
        if (!Claims.TryBegin(ref edit, Names, Terms.NowMs, To, out Start))
            return false;
        ByteQueue claimed = default, gone = default;
        try
        {
            StreamId next = ClaimAll(ref edit, ref claimed, ref gone);
            if (To != null)
            {
                To.Array(3);
                StreamEntry.Reply(next, To);
                Claims.Reply(ref edit, claimed, Terms.OnlyIds, To);
                Claims.Reply(ref edit, gone, onlyIds: true, To);
            }

            return Start.IsNewConsumer || claimed.Count + gone.Count > 0;
        }
        finally
        {
            claimed.Free(); // common.Q1
            gone.Free();
        }
    }

    public readonly int Encode(Span<byte> to)
    {
        MemoryMarshal.Write(to, Terms);
        MemoryMarshal.Write(to[ClaimTerms.Bytes..], From);
        BinaryPrimitives.WriteInt64LittleEndian(to[(ClaimTerms.Bytes + StreamIds.IdBytes)..], Count);
        BinaryPrimitives.WriteInt64LittleEndian(to[(ClaimTerms.Bytes + StreamIds.IdBytes + sizeof(long))..], _looks);
        return ClaimTerms.Bytes + FixedBytes + Names.Encode(to[(ClaimTerms.Bytes + FixedBytes)..]);
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < ClaimTerms.Bytes + FixedBytes)
            return false;
        Terms = MemoryMarshal.Read<ClaimTerms>(from);
        From = MemoryMarshal.Read<StreamId>(from[ClaimTerms.Bytes..]);
        Count = BinaryPrimitives.ReadInt64LittleEndian(from[(ClaimTerms.Bytes + StreamIds.IdBytes)..]);
        _looks = BinaryPrimitives.ReadInt64LittleEndian(from[(ClaimTerms.Bytes + StreamIds.IdBytes + sizeof(long))..]);
        return Operands.TryDecode(from[(ClaimTerms.Bytes + FixedBytes)..], out Names) && Names.Count == 2;
    }

    // Which entries it will look at is known once that is there which the group has of them, and which of those it gives away once they are there, too.
    private readonly void LookAhead(ref RecordEdit edit, int group)
    {
        ByteQueue looked = default, given = default;
        try
        {
            NoteLooked(ref edit, group, ref looked);
            StreamIds ids = StreamIds.Noted(looked);
            IdsAhead.LookAtEntries(ref edit, ids);
            long left = Wanted;
            for (int i = 0; i < ids.Count && left > 0; i++)
            {
                if (StreamForm.TryFind(ref edit, ids[i], out _, out _) && !IsDue(ref edit, group, ids[i]))
                    continue;
                Claims.Note(ref given, ids[i]);
                left--;
            }

            IdsAhead.LookAtPending(ref edit, group, StreamIds.Noted(given), Claims.Becomes(ref edit, group, Names, Terms));
        }
        finally
        {
            looked.Free(); // common.Q1
            given.Free();
        }
    }

    // As many at a time as it wants: most are due, mostly.
    private readonly void NoteLooked(ref RecordEdit edit, int group, ref ByteQueue looked)
    {
        var first = new PendingKey(StreamGroups.Owner(group, -1), From);
        int seen = 0, before;
        for (long left = Wanted, looks = LooksFor(left), most; left > 0 && looks > 0; looks -= seen - before)
        {
            (before, most) = (seen, Math.Min(Wanted, looks));
            IdsAhead.Note(ref edit, StreamGroups.ByGroup, first, most, ref looked);
            StreamIds ids = StreamIds.Noted(looked);
            for (; seen < ids.Count; seen++)
                left -= IsDue(ref edit, group, ids[seen]) ? 1 : 0;
            if (seen - before < most || ids[seen - 1] == StreamId.Max)
                return;
            first = first with { Id = ids[seen - 1].Next };
        }
    }

    private readonly bool IsDue(ref RecordEdit edit, int group, StreamId id) =>
        StreamGroups.Pending(ref edit, group, id)->IsDue(Terms.MinIdleMs, Terms.NowMs);

    private readonly long Wanted => Math.Min(Count, Claims.Most);

    private readonly long LooksFor(long entries) => _looks > 0 ? _looks : entries * LooksPerEntry;

    // Where the next call is to begin, zero at the end. Looks at so many entries at most, whatever they are.
    private StreamId ClaimAll(ref RecordEdit edit, ref ByteQueue claimed, ref ByteQueue gone)
    {
        ulong owner = StreamGroups.Owner(Start.Target.Group, -1);
        long left = Wanted, looks = LooksFor(left);
        _looks = 0;
        MapPlace place = StreamGroups.ByGroup.Seek(ref edit, new PendingKey(owner, From));
        PendingKey key;
        bool hasMore;
        while ((hasMore = StreamGroups.ByGroup.TryRead(ref edit, ref place, out key, out _) && key.Owner == owner)
            && left > 0 && _looks < looks)
        {
            ClaimResult result = Claims.Try(ref edit, Start.Target, key.Id, Terms);
            if (result == ClaimResult.NoMemory)
                break;
            _looks++;
            left -= result == ClaimResult.Left ? 0 : 1;
            if (result == ClaimResult.Gone)
            {
                Claims.Note(ref gone, key.Id);
                place = StreamGroups.ByGroup.Seek(ref edit, key);
                continue;
            }

            if (result == ClaimResult.Claimed)
                Claims.Note(ref claimed, key.Id);
            place.Index++;
        }

        return hasMore ? key.Id : StreamId.Min;
    }
}
