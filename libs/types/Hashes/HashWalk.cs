using Garnet.Common.Resp;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Hashes;

/// <summary>Replies all fields, their values, or both as a map.</summary>
public struct HashWalk(RespWriter to, FieldParts parts) : IExamine
{
    public bool WrongKind;

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
