using System.Runtime.CompilerServices;
using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// Has the chunks of members that an operation names fetched side by side, if they lie on a tier: it would wait for the device at each of them otherwise. Used before the
/// operation looks for the first; for a value that is all in memory it costs a look at the index for each. Others name chunks themselves.
/// </summary>
public unsafe struct MembersAhead
{
    private const int Places = 512, LooksMax = 4;

    private fixed uint _asked[Places]; // numbers of chunks that were asked about, and one, by their low bits or at one of the next places
    private uint _chunks;

    /// <summary>All the byte strings of a list, or one of every few of them.</summary>
    public static void Look(ref RecordEdit edit, in Operands operands, int every = 1, int first = 0)
    {
        if (operands.Count > every && MayLack(ref edit))
            LookAtAll(ref edit, operands, every, first);
    }

    /// <summary>False if nothing of the value lies on a tier that could be fetched: nothing of this is made then, whose table has to be cleared.</summary>
    public static bool MayLack(ref RecordEdit edit) => edit.MayLack && Root.IsChunked(edit.Value);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void LookAtAll(ref RecordEdit edit, in Operands operands, int every, int first)
    {
        MembersAhead ahead = new(ref edit);
        int i = 0;
        for (Operands.Reader reader = operands.Read(); reader.Next(); i++)
        {
            if (i % every == first && !ahead.TryLook(ref edit, reader.Bytes, reader.Length))
                return;
        }
    }

    /// <summary>Begins for a value of which something may be lacked.</summary>
    public MembersAhead(ref RecordEdit edit)
    {
        _chunks = Root.Chunks(edit.Value);
        edit.BeginForesight();
    }

    /// <summary>False once so much is fetched that the rest has to wait.</summary>
    public bool TryLook(ref RecordEdit edit, byte* member, int bytes) =>
        TryLook(ref edit, ChunkedMembers.NumberOf(RecordEdit.Hash(member, bytes, edit.Owner), _chunks));

    /// <summary>The same for a chunk by its number.</summary>
    public bool TryLook(ref RecordEdit edit, uint number)
    {
        uint place = number % Places;
        for (int looks = LooksMax; looks > 0 && _asked[place] != 0; looks--, place = (place + 1) % Places)
        {
            if (_asked[place] == number + 1)
                return true;
        }
        _asked[place] = number + 1; // where all of these places are taken, in the stead of another: that one may be asked about again
        return edit.TryForesee(number);
    }
}
