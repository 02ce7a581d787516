using System.Buffers.Binary;
using System.Runtime.InteropServices;
using Garnet.Common.Bytes;
using Garnet.Common.Resp;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>Gives pending entries to a consumer (XCLAIM) and replies them.</summary>
public unsafe struct GroupClaim : IEdit
{
    /// <summary>The group's name and the consumer's.</summary>
    public Operands Names;
    public ClaimTerms Terms;
    public StreamIds Ids;
    public RespWriter? To;

    public ClaimStart Start;
    private int _done;

    public static byte OpId => 37;

    public readonly long EncodedBytesMax => (long)ClaimTerms.Bytes + sizeof(int) + Names.EncodedBytes() + Ids.EncodedBytes;

    public bool Run(ref RecordEdit edit)
    {
        if (edit.MayLack && StreamGroups.TryGroup(ref edit, Names, out int group))
        {
            IdsAhead.LookAtEntries(ref edit, Ids);
            IdsAhead.LookAtPending(ref edit, group, Ids, Claims.Becomes(ref edit, group, Names, Terms));
        }

        if (!Claims.TryBegin(ref edit, Names, Terms.NowMs, To, out Start))
            return false;
        bool changed = Start.IsNewConsumer | Raise(ref edit, Start.Target.Group);
        var claimed = default(ByteQueue);
        try
        {
            changed |= ClaimAll(ref edit, ref claimed);
            if (To != null)
                Claims.Reply(ref edit, claimed, Terms.OnlyIds, To);
        }
        finally
        {
            claimed.Free(); // common.Q1
        }

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
        return bytes >= 0 && bytes <= from.Length && Operands.TryDecode(from[..bytes], out Names) && Names.Count == 2
            && StreamIds.TryDecode(from[bytes..], out Ids);
    }

    private bool ClaimAll(ref RecordEdit edit, ref ByteQueue claimed)
    {
        bool changed = false;
        for (_done = 0; _done < Ids.Count; _done++)
        {
            ClaimResult result = Claims.Try(ref edit, Start.Target, Ids[_done], Terms);
            if (result == ClaimResult.NoMemory)
                break;
            changed |= result != ClaimResult.Left;
            if (result == ClaimResult.Claimed)
                Claims.Note(ref claimed, Ids[_done]);
        }

        return changed;
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
