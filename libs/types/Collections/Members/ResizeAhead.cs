using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// Has those chunks fetched, too, that an operation of many names comes to as it makes the collection larger or smaller: they are divided, or joined to others, whatever they hold. How
/// many these are is known once the chunks of the names are there (<see cref="MembersAhead"/>).
/// </summary>
internal unsafe struct ResizeAhead
{
    private const int NamesMin = 64; // fewer change so little that it costs nothing to take it back when one of these chunks is lacked

    public Operands Names;
    public int Every, First;
    public EntryForm Form;
    public ResizeKind Kind;

    /// <summary>Names them, as many as may be.</summary>
    public readonly void Look(ref RecordEdit edit)
    {
        if (Names.Count / Every < NamesMin || !edit.MayLack)
            return;
        if (Kind == ResizeKind.Grows)
            LookAtDivided(ref edit);
        else if (Kind == ResizeKind.Shrinks)
            LookAtJoined(ref edit, Names.Count, -Change(ref edit));
    }

    /// <summary>Names them where so many entries of so many bytes together are removed.</summary>
    public static void LookAtJoined(ref RecordEdit edit, long entries, long bytes)
    {
        uint chunks = Root.Chunks(edit.Value), wanted = ChunkedMembers.ChunksBehind(edit.Value, -bytes);
        // With each entry goes one at most.
        for (uint last = chunks - 1; last >= wanted && entries > 0; last--, entries--)
        {
            if (!edit.TryForesee(ChunkedMembers.PartOf(last), isNeeded: false) || !edit.TryForesee(last, isNeeded: false))
                return;
        }
    }

    private readonly void LookAtDivided(ref RecordEdit edit)
    {
        uint chunks = Root.Chunks(edit.Value), wanted = ChunkedMembers.ChunksBehind(edit.Value, Change(ref edit));
        for (uint next = chunks; next < wanted; next++)
        {
            uint number = ChunkedMembers.PartOf(next);
            if (number < chunks && !edit.TryForesee(number, isNeeded: false))
                return;
        }
    }

    // Bytes that there will be more of.
    private readonly long Change(ref RecordEdit edit)
    {
        long change = 0;
        for (Operands.Reader reader = Names.Read(); reader.Next();)
        {
            Entry parts = PartsOf(ref reader);
            bool isThere = ChunkedMembers.Find(ref edit, Form, parts.Key, parts.KeyBytes, out Entry old);
            change += (Kind == ResizeKind.Grows ? Entry.BytesOf(Form, parts) : 0) - (isThere ? old.Bytes : 0);
        }

        return change;
    }

    private readonly Entry PartsOf(ref Operands.Reader reader)
    {
        if (First == 1)
            reader.Next();
        var parts = new Entry { Key = reader.Bytes, KeyBytes = reader.Length };
        if (Form == EntryForm.Pair && Every == 2 && reader.Next())
            parts.ValueBytes = reader.Length;
        return parts;
    }
}
