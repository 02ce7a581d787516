using System.Buffers.Binary;
using Garnet.Common.Resp;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>Deletes entries, perhaps after a group has acknowledged them (XDEL, XDELEX, XACKDEL).</summary>
public struct StreamDelete : IEdit
{
    private const int FixedBytes = 1 + sizeof(int), NotThere = -1, Done = 1, Referred = 2;

    public StreamIds Ids;
    public ReferencePolicy Policy;
    /// <summary>The group that acknowledges them; none if they are just deleted.</summary>
    public Operands Group;
    /// <summary>Where it is replied what became of each, null for nowhere.</summary>
    public RespWriter? To;

    public bool WrongKind;
    public long Deleted;
    /// <summary>There is a stream, and a reply if one was asked for.</summary>
    public bool Found;
    private bool _changed;

    public static byte OpId => 31;

    public readonly long EncodedBytesMax => (long)FixedBytes + Group.EncodedBytes() + Ids.EncodedBytes;

    public bool Run(ref RecordEdit edit)
    {
        WrongKind = edit.Exists && edit.Kind != RecordKind.Stream;
        if (!edit.Exists || WrongKind)
            return false;
        Found = true;
        int group = -1;
        Operands.Reader name = Group.Read();
        if (name.Next())
            group = StreamGroups.Find(ref edit, name.Span);
        IdsAhead.LookAtEntries(ref edit, Ids);
        if (group >= 0)
            IdsAhead.LookAtPending(ref edit, group, Ids);
        References.LookAhead(ref edit, Ids, Policy);
        To?.Array(Ids.Count);
        for (int i = 0; i < Ids.Count; i++)
        {
            int result = Group.Count > 0 && (group < 0 || !StreamGroups.TryAcknowledge(ref edit, group, Ids[i]))
                ? NotThere
                : Delete(ref edit, Ids[i]);
            _changed |= Group.Count > 0 && result != NotThere;
            To?.Int(result);
        }

        return _changed;
    }

    public readonly int Encode(Span<byte> to)
    {
        to[0] = (byte)Policy;
        int bytes = Group.Encode(to[FixedBytes..]);
        BinaryPrimitives.WriteInt32LittleEndian(to[1..], bytes);
        return FixedBytes + bytes + Ids.Encode(to[(FixedBytes + bytes)..]);
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < FixedBytes || from[0] > (byte)ReferencePolicy.Acknowledged)
            return false;
        Policy = (ReferencePolicy)from[0];
        int bytes = BinaryPrimitives.ReadInt32LittleEndian(from[1..]);
        from = from[FixedBytes..];
        return bytes >= 0 && bytes <= from.Length && Operands.TryDecode(from[..bytes], out Group) && Group.Count <= 1
            && StreamIds.TryDecode(from[bytes..], out Ids);
    }

    private int Delete(ref RecordEdit edit, StreamId id)
    {
        if (!StreamForm.TryFind(ref edit, id, out _, out _))
            return Group.Count > 0 ? Done : NotThere; // what was acknowledged needs no entry any more
        if (Policy == ReferencePolicy.Acknowledged && References.Has(ref edit, id))
            return Referred;
        StreamForm.TryDelete(ref edit, id);
        if (Policy == ReferencePolicy.Delete)
            References.Delete(ref edit, id);
        Deleted++;
        _changed = true;
        return Done;
    }
}
