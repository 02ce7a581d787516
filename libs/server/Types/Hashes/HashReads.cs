using Garnet.Common.Resp;
using Garnet.Server.Types.Collections;
using Tsavorite;

namespace Garnet.Server.Types.Hashes;

/// <summary>What is asked of a single field.</summary>
internal enum FieldQuestion : byte
{
    Value,
    Length,
    Presence,
}

/// <summary>Replies the value of one field, its length, or whether it is there.</summary>
internal unsafe struct FieldLook(RespWriter to, Arg field, FieldQuestion question) : IExamine
{
    internal bool WrongKind;

    public void Look(ref RecordEdit record)
    {
        WrongKind = record.Kind != RecordKind.Hash;
        if (WrongKind)
            return;
        bool found = Members.Find(ref record, EntryForm.Pair, field.Bytes, field.Length, out Entry entry) && !entry.IsDue(record.NowMs);
        if (question != FieldQuestion.Value)
            to.Int(!found ? 0 : question == FieldQuestion.Length ? entry.ValueBytes : 1);
        else if (found)
            to.Bulk(entry.ValueSpan);
        else
            to.Null();
    }
}

/// <summary>Replies the values of several fields, nil for those not there.</summary>
internal unsafe struct FieldsRead(RespWriter to, Operands fields) : IExamine
{
    internal bool WrongKind;

    public void Look(ref RecordEdit record)
    {
        WrongKind = record.Kind != RecordKind.Hash;
        if (WrongKind)
            return;
        to.Array(fields.Count);
        for (Operands.Reader reader = fields.Read(); reader.Next();)
        {
            if (Members.Find(ref record, EntryForm.Pair, reader.Bytes, reader.Length, out Entry entry) && !entry.IsDue(record.NowMs))
                to.Bulk(entry.ValueSpan);
            else
                to.Null();
        }
    }
}

/// <summary>Copies the value of one field to memory of the caller's; a longer one is only measured.</summary>
internal unsafe struct FieldCopy(Arg field, byte* to, int room) : IExamine
{
    internal bool WrongKind;
    internal bool Found;
    internal int Length;

    public void Look(ref RecordEdit record)
    {
        WrongKind = record.Kind != RecordKind.Hash;
        if (WrongKind || !Members.Find(ref record, EntryForm.Pair, field.Bytes, field.Length, out Entry entry) || entry.IsDue(record.NowMs))
            return;
        Found = true;
        Length = entry.ValueBytes;
        if (Length <= room)
            Buffer.MemoryCopy(entry.Value, to, room, Length);
    }
}

/// <summary>What a walk over a hash replies of each field.</summary>
[Flags]
internal enum FieldParts : byte
{
    Name = 1,
    Value = 2,
    Both = 3,
}

/// <summary>Replies all fields, their values, or both as a map.</summary>
internal struct HashWalk(RespWriter to, FieldParts parts) : IExamine
{
    internal bool WrongKind;

    public void Look(ref RecordEdit record)
    {
        WrongKind = record.Kind != RecordKind.Hash;
        if (WrongKind)
            return;
        int count = (int)Members.CountLive(ref record, EntryForm.Pair);
        if (parts == FieldParts.Both)
            to.Map(count);
        else
            to.Array(count);
        var walk = default(MemberWalk);
        while (walk.Next(ref record, EntryForm.Pair))
        {
            Entry entry = walk.Current;
            if (entry.IsDue(record.NowMs))
                continue;
            if ((parts & FieldParts.Name) != 0)
                to.Bulk(entry.KeySpan);
            if ((parts & FieldParts.Value) != 0)
                to.Bulk(entry.ValueSpan);
        }
    }
}
