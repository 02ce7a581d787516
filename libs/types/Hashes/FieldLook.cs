using Garnet.Common.Resp;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Hashes;

/// <summary>Replies the value of one field, its length, or whether it is there.</summary>
public unsafe struct FieldLook(RespWriter to, Arg field, FieldQuestion question) : IExamine
{
    public bool WrongKind;

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
