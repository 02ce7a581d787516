using Garnet.Common.Resp;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Hashes;

/// <summary>Copies the value of one field to memory of the caller's; a longer one is only measured.</summary>
public unsafe struct FieldCopy(Arg field, byte* to, int room) : IExamine
{
    public bool WrongKind;
    public bool Found;
    public int Length;

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
