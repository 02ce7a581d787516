using System.Runtime.CompilerServices;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// Has the chunks of members that an operation names fetched side by side, if they lie on a tier: it would wait for the device at each of them otherwise. Used before the
/// operation looks for the first, and changes anything; for a value that is all in memory it costs a look at the index for each. Others name chunks themselves.
/// </summary>
public unsafe struct MembersAhead
{
    private readonly uint _chunks;

    /// <summary>
    /// All the byte strings of a list, or one of every few of them, whose entries are looked at, or changed to others that are about as large. False if memory cannot have all of
    /// them at a time: the rest is waited for where the operation comes to it.
    /// </summary>
    public static bool Look(ref RecordEdit edit, in Operands operands, int every = 1, int first = 0) =>
        operands.Count <= every || !MayLack(ref edit)
            || LookAtAll(ref edit, new ResizeAhead { Names = operands, Every = every, First = first });

    /// <summary>Entries that are put in, or replace others: fields with values, scores with members, or members. There may be more chunks then, which others are divided into.</summary>
    public static void LookToPut(ref RecordEdit edit, EntryForm form, in Operands operands)
    {
        int every = form == EntryForm.Member ? 1 : 2;
        if (operands.Count > every && MayLack(ref edit))
            LookAtAll(ref edit, new ResizeAhead
            {
                Names = operands, Every = every, First = form == EntryForm.Scored ? 1 : 0, Form = form, Kind = ResizeKind.Grows,
            });
    }

    /// <summary>Entries that are removed. There may be fewer chunks then, which are joined to others.</summary>
    public static void LookToRemove(ref RecordEdit edit, EntryForm form, in Operands operands)
    {
        if (operands.Count > 1 && MayLack(ref edit))
            LookAtAll(ref edit, new ResizeAhead { Names = operands, Every = 1, Form = form, Kind = ResizeKind.Shrinks });
    }

    /// <summary>False if nothing of the value lies on a tier that could be fetched: nothing of this is made then.</summary>
    public static bool MayLack(ref RecordEdit edit) => edit.MayLack && Root.IsChunked(edit.Value);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static bool LookAtAll(ref RecordEdit edit, ResizeAhead resize)
    {
        bool isAll, isLeft, takesNamed = false;
        do
        {
            MembersAhead ahead = new(ref edit);
            isAll = ahead.TryLookAtNames(ref edit, resize);
            if (isAll && edit.LacksNone())
                resize.Look(ref edit);
            bool begins = !isAll && edit.TryTakeNamed();
            takesNamed |= begins;
            isLeft = begins || edit.AwaitForeseen();
        }
        while (isLeft);
        if (takesNamed && !isAll)
            edit.EndTaking();
        return isAll;
    }

    /// <summary>Begins for a value of which something may be lacked.</summary>
    public MembersAhead(ref RecordEdit edit)
    {
        _chunks = Root.Chunks(edit.Value);
        edit.BeginForesight();
    }

    /// <summary>False once so much is fetched that the rest has to wait.</summary>
    public readonly bool TryLook(ref RecordEdit edit, byte* member, int bytes) =>
        edit.TryForesee(ChunkedMembers.NumberOf(RecordEdit.Hash(member, bytes, edit.Owner), _chunks));

    private readonly bool TryLookAtNames(ref RecordEdit edit, in ResizeAhead resize)
    {
        int i = 0;
        for (Operands.Reader reader = resize.Names.Read(); reader.Next(); i++)
        {
            if (i % resize.Every == resize.First && !TryLook(ref edit, reader.Bytes, reader.Length))
                return false;
        }

        return true;
    }
}
