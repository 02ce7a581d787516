using System.Buffers.Binary;
using System.Runtime.InteropServices;
using Garnet.Common.Resp;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Types.Streams;

/// <summary>What becomes of an entry that groups still refer to: it is pending, or has not been delivered yet.</summary>
internal enum ReferencePolicy : byte
{
    /// <summary>The entry goes, what is pending stays.</summary>
    Keep,
    /// <summary>Both go.</summary>
    Delete,
    /// <summary>The entry stays as long as a group refers to it.</summary>
    Acknowledged,
}

/// <summary>Removes entries from the front (XTRIM, and XADD that trims). Logged with their number, or with what was asked where groups decide.</summary>
internal struct StreamTrim : IEdit
{
    private const int Bytes = 2 + (2 * sizeof(long)) + StreamIds.IdBytes;

    internal TrimPlan Plan;
    internal ReferencePolicy Policy;

    internal bool WrongKind;
    /// <summary>Entries removed.</summary>
    internal long Removed;

    public static byte OpId => 30;

    public readonly long EncodedBytesMax => Bytes;

    public unsafe bool Run(ref RecordEdit edit)
    {
        WrongKind = edit.Exists && edit.Kind != RecordKind.Stream;
        if (!edit.Exists || WrongKind)
            return false;
        if (StreamForm.Header(ref edit)->Groups == 0)
            Policy = ReferencePolicy.Keep;
        if (Policy == ReferencePolicy.Acknowledged)
        {
            Removed = References.TrimAcknowledged(ref edit, Plan);
            return Removed > 0;
        }

        Removed = Plan.Count(ref edit);
        if (Removed == 0)
            return false;
        if (Policy == ReferencePolicy.Delete)
            References.DeleteFirst(ref edit, Removed);
        StreamForm.Trim(ref edit, Removed);
        Plan = TrimPlan.First(Removed); // whole pages are this server's affair
        return true;
    }

    public readonly int Encode(Span<byte> to)
    {
        to[0] = (byte)Policy;
        to[1] = (byte)(Plan.ByLength ? 1 : 0);
        BinaryPrimitives.WriteInt64LittleEndian(to[2..], Plan.LengthMax);
        BinaryPrimitives.WriteInt64LittleEndian(to[10..], Plan.Limit);
        MemoryMarshal.Write(to[18..], Plan.MinId);
        return Bytes;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length != Bytes || from[0] > (byte)ReferencePolicy.Acknowledged || from[1] > 1)
            return false;
        Policy = (ReferencePolicy)from[0];
        Plan.ByLength = from[1] == 1;
        Plan.LengthMax = BinaryPrimitives.ReadInt64LittleEndian(from[2..]);
        Plan.Limit = BinaryPrimitives.ReadInt64LittleEndian(from[10..]);
        Plan.MinId = MemoryMarshal.Read<StreamId>(from[18..]);
        return Plan.Limit >= 0;
    }
}

/// <summary>Deletes entries, perhaps after a group has acknowledged them (XDEL, XDELEX, XACKDEL).</summary>
internal struct StreamDelete : IEdit
{
    private const int FixedBytes = 1 + sizeof(int), NotThere = -1, Done = 1, Referred = 2;

    internal StreamIds Ids;
    internal ReferencePolicy Policy;
    /// <summary>The group that acknowledges them; none if they are just deleted.</summary>
    internal Operands Group;
    /// <summary>Where it is replied what became of each, null for nowhere.</summary>
    internal RespWriter? To;

    internal bool WrongKind;
    internal long Deleted;
    /// <summary>There is a stream, and a reply if one was asked for.</summary>
    internal bool Found;
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
        To?.Array(Ids.Count);
        for (int i = 0; i < Ids.Count; i++)
        {
            int result = Group.Count > 0 && (group < 0 || !StreamGroups.TryAcknowledge(ref edit, group, Ids[i])) ? NotThere : Delete(ref edit, Ids[i]);
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
        return bytes >= 0 && bytes <= from.Length && Operands.TryDecode(from[..bytes], out Group) && Group.Count <= 1 && StreamIds.TryDecode(from[bytes..], out Ids);
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
