using Garnet.Common.Resp;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Hashes;

/// <summary>Replies the values of several fields, nil for those not there.</summary>
public unsafe struct FieldsRead(RespWriter to, Operands fields) : IExamine
{
    public bool WrongKind;

    public void Look(ref RecordEdit record)
    {
        WrongKind = record.Kind != RecordKind.Hash;
        if (WrongKind)
            return;
        MembersAhead.Look(ref record, fields);
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
