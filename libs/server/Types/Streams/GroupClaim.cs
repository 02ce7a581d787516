using System.Buffers.Binary;
using System.Runtime.InteropServices;
using Garnet.Common.Resp;
using Garnet.Server.Net;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Types.Streams;

/// <summary>How entries are given to another consumer.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
internal struct ClaimTerms
{
    internal long NowMs;
    /// <summary>Only entries that were delivered so long ago.</summary>
    internal long MinIdleMs;
    /// <summary>When they count as delivered.</summary>
    internal long DeliveredMs;
    /// <summary>How often they count as delivered, -1 for once more.</summary>
    internal long Deliveries;
    /// <summary>The group's last id is this at least.</summary>
    internal StreamId Last;
    /// <summary>Entries that are not pending become so.</summary>
    internal bool Forces;
    /// <summary>Only ids are replied, and the entries have not been delivered once more.</summary>
    internal bool OnlyIds;

    internal static unsafe int Bytes => sizeof(ClaimTerms);
}

/// <summary>Gives pending entries to a consumer (XCLAIM) and replies them.</summary>
internal unsafe struct GroupClaim : IEdit
{
    /// <summary>The group's name and the consumer's.</summary>
    internal Operands Names;
    internal ClaimTerms Terms;
    internal StreamIds Ids;
    internal RespWriter? To;

    internal ClaimStart Start;
    private int _done;

    public static byte OpId => 37;

    public readonly long EncodedBytesMax => (long)ClaimTerms.Bytes + sizeof(int) + Names.EncodedBytes() + Ids.EncodedBytes;

    public bool Run(ref RecordEdit edit)
    {
        if (!Claims.TryBegin(ref edit, Names, Terms.NowMs, To, out Start))
            return false;
        bool changed = Start.IsNewConsumer | Raise(ref edit, Start.Target.Group);
        var claimed = default(ByteQueue);
        for (; _done < Ids.Count; _done++)
        {
            ClaimResult result = Claims.Try(ref edit, Start.Target, Ids[_done], Terms);
            if (result == ClaimResult.NoMemory)
                break;
            changed |= result != ClaimResult.Left;
            if (result == ClaimResult.Claimed)
                Claims.Note(ref claimed, Ids[_done]);
        }

        if (To != null)
            Claims.Reply(ref edit, claimed, Terms.OnlyIds, To);
        claimed.Free();
        return changed;
    }

    public readonly int Encode(Span<byte> to)
    {
        MemoryMarshal.Write(to, Terms);
        int bytes = Names.Encode(to[(ClaimTerms.Bytes + sizeof(int))..]), at = ClaimTerms.Bytes + sizeof(int) + bytes;
        BinaryPrimitives.WriteInt32LittleEndian(to[ClaimTerms.Bytes..], bytes);
        for (int i = 0; i < _done; i++, at += StreamIds.IdBytes)
            MemoryMarshal.Write(to[at..], Ids[i]);
        return at;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < ClaimTerms.Bytes + sizeof(int))
            return false;
        Terms = MemoryMarshal.Read<ClaimTerms>(from);
        int bytes = BinaryPrimitives.ReadInt32LittleEndian(from[ClaimTerms.Bytes..]);
        from = from[(ClaimTerms.Bytes + sizeof(int))..];
        return bytes >= 0 && bytes <= from.Length && Operands.TryDecode(from[..bytes], out Names) && Names.Count == 2 && StreamIds.TryDecode(from[bytes..], out Ids);
    }

    private readonly bool Raise(ref RecordEdit edit, int group)
    {
        GroupState* state = StreamGroups.Open(ref edit, group);
        if (Terms.Last <= state->Last)
            return false;
        state->Last = Terms.Last;
        return true;
    }
}

/// <summary>Gives pending entries, one after the other, to a consumer (XAUTOCLAIM) and replies them.</summary>
internal unsafe struct GroupAutoClaim : IEdit
{
    private const int FixedBytes = StreamIds.IdBytes + (2 * sizeof(long));
    private const int LooksPerEntry = 10;

    /// <summary>The group's name and the consumer's.</summary>
    internal Operands Names;
    internal ClaimTerms Terms;
    internal StreamId From;
    internal long Count;
    internal RespWriter? To;

    internal ClaimStart Start;
    private long _looks;

    public static byte OpId => 38;

    public readonly long EncodedBytesMax => ClaimTerms.Bytes + FixedBytes + Names.EncodedBytes();

    public bool Run(ref RecordEdit edit)
    {
        if (!Claims.TryBegin(ref edit, Names, Terms.NowMs, To, out Start))
            return false;
        ByteQueue claimed = default, gone = default;
        StreamId next = ClaimAll(ref edit, ref claimed, ref gone);
        bool changed = Start.IsNewConsumer || claimed.Count + gone.Count > 0;
        if (To != null)
        {
            To.Array(3);
            StreamEntry.Reply(next, To);
            Claims.Reply(ref edit, claimed, Terms.OnlyIds, To);
            Claims.Reply(ref edit, gone, onlyIds: true, To);
        }

        claimed.Free();
        gone.Free();
        return changed;
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

    // Where the next call is to begin, zero at the end. Looks at so many entries at most, whatever they are.
    private StreamId ClaimAll(ref RecordEdit edit, ref ByteQueue claimed, ref ByteQueue gone)
    {
        ulong owner = StreamGroups.Owner(Start.Target.Group, -1);
        long left = Math.Min(Count, Claims.Most), looks = _looks > 0 ? _looks : left * LooksPerEntry;
        _looks = 0;
        MapPlace place = StreamGroups.ByGroup.Seek(ref edit, new PendingKey(owner, From));
        PendingKey key;
        bool hasMore;
        while ((hasMore = StreamGroups.ByGroup.TryRead(ref edit, ref place, out key, out _) && key.Owner == owner) && left > 0 && _looks < looks)
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
