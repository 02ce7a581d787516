using Garnet.Common.Bytes;
using Garnet.Types.Keys;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>What becomes of entries that are to get another expiry, one answer for each, and which of them it concerns.</summary>
public unsafe struct EntryTimes(MemberShape shape, Operands entries, long[] answers) : IExamine
{
    private const int BesideBytes = 2048; // of other entries beside one

    public const long NotThere = -2, NoExpiry = -1, Refused = 0, Done = 1, Removed = 2;

    /// <summary>The new expiry; 0 takes it away.</summary>
    public long ExpireAtMs;
    public ExpireCondition Condition;
    /// <summary>The entries to change, as operands.</summary>
    public ByteQueue Chosen;
    public bool WrongKind;
    /// <summary>Memory cannot have all that are to change at a time: none of them may.</summary>
    public bool LacksRoom;
    private bool _removes;

    /// <summary>What they are entries of.</summary>
    public readonly RecordKind Kind => shape.Kind;

    /// <summary>True if the new time has come: the entries go.</summary>
    public readonly bool Removes => _removes;

    public void Look(ref RecordEdit record)
    {
        WrongKind = record.Kind != shape.Kind;
        if (WrongKind)
            return;
        _removes = ExpireAtMs != 0 && ExpireAtMs <= record.NowMs;
        bool mayLack = MembersAhead.MayLack(ref record) && !_removes;
        bool isAllThere = MembersAhead.Look(ref record, entries);
        long changing = 0;
        int index = 0;
        for (Operands.Reader reader = entries.Read(); reader.Next(); index++)
        {
            bool found = Members.Find(ref record, shape.Form, reader.Bytes, reader.Length, out Entry entry) && !entry.IsDue(record.NowMs);
            answers[index] = !found ? NotThere
                : ExpireAtMs == 0 && entry.ExpireAtMs == 0 ? NoExpiry : !Holds(entry.ExpireAtMs) ? Refused : _removes ? Removed : Done;
            if (answers[index] is not (Done or Removed))
                continue;
            OperandText.Append(ref Chosen, reader.Span);
            // What is removed goes piece by piece. All that changes is in memory at a time: what was found there side by side is, unless it left again meanwhile; of what
            // had to be looked at piece by piece no more than half of memory may be, with the pieces that it lies in.
            changing += (long)entry.KeyBytes + entry.ValueBytes + (isAllThere ? 0 : BesideBytes);
            LacksRoom = mayLack && !record.Fits(isAllThere ? changing : changing * 2);
            if (LacksRoom)
                return;
        }
    }

    private readonly bool Holds(long old) => Condition switch
    {
        ExpireCondition.IfNone => old == 0,
        ExpireCondition.IfAny => old != 0,
        ExpireCondition.IfLater => old != 0 && ExpireAtMs > old,
        ExpireCondition.IfEarlier => old == 0 || ExpireAtMs < old,
        _ => true,
    };

    /// <summary>Changes what was chosen; the key is still locked.</summary>
    public readonly Outcome Apply(StoreSession store, in KeyRef key)
    {
        if (Chosen.Count == 0)
            return Outcome.Done;
        Operands chosen = OperandText.Read(Chosen);
        var remove = new RemoveMembers { Kind = shape.Kind, Keys = chosen };
        var retime = new RetimeEntries { Keys = chosen, ExpireAtMs = ExpireAtMs };
        return _removes ? store.Edit(in key, ref remove) : store.Edit(in key, ref retime);
    }
}
