using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>Removes entries of a collection by their keys (HDEL, SREM, SPOP, SMOVE, ZREM); the collection goes with its last one.</summary>
public unsafe struct RemoveMembers : IEdit
{
    public RecordKind Kind;
    public Operands Keys;

    /// <summary>
    /// Of entries that are due, which were just read: nothing is fetched ahead then, since a piece that cannot be read would keep back what is due in the others.
    /// </summary>
    public bool IsOfDue;

    /// <summary>Entries that were there.</summary>
    public int Removed;
    public bool WrongKind;

    public static byte OpId => 16;

    public readonly long EncodedBytesMax => 1 + Keys.EncodedBytes();

    public bool Run(ref RecordEdit edit)
    {
        WrongKind = edit.Exists && edit.Kind != Kind;
        if (WrongKind)
            return false;
        EntryForm form = Kind == RecordKind.Set ? EntryForm.Member : Kind == RecordKind.Hash ? EntryForm.Pair : EntryForm.Scored;
        if (edit.Exists && !IsOfDue)
            LookAhead(ref edit, form);
        bool changed = false;
        for (Operands.Reader reader = Keys.Read(); edit.Exists && reader.Next();)
        {
            if (!Members.Find(ref edit, form, reader.Bytes, reader.Length, out Entry old))
                continue;
            Removed += old.IsDue(edit.NowMs) ? 0 : 1;
            changed |= Kind == RecordKind.SortedSet
                ? SortedForm.Remove(ref edit, reader.Bytes, reader.Length)
                : Members.Remove(ref edit, form, reader.Bytes, reader.Length);
            edit.CleanBehind();
        }

        return changed;
    }

    private readonly void LookAhead(ref RecordEdit edit, EntryForm form)
    {
        MembersAhead.LookToRemove(ref edit, form, Keys);
        if (Kind == RecordKind.SortedSet)
            PagesAhead.Look(ref edit, Keys, arePairs: false);
    }

    public readonly int Encode(Span<byte> to)
    {
        to[0] = (byte)Kind;
        return 1 + Keys.Encode(to[1..]);
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.IsEmpty || from[0] is not ((byte)RecordKind.Hash or (byte)RecordKind.Set or (byte)RecordKind.SortedSet))
            return false;
        Kind = (RecordKind)from[0];
        return Operands.TryDecode(from[1..], out Keys);
    }
}
