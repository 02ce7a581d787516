using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>
/// Has the chunks of members that an operation names fetched side by side, if they lie on a tier: it would wait for the device at each of them otherwise. Used before the
/// operation looks for the first; for a value that is all in memory it costs a look at the index for each.
/// </summary>
public unsafe ref struct MembersAhead
{
    private const int SeenBits = 256; // of chunks' numbers: one that is taken for another is fetched when the operation comes to it
    private const int ChunksMax = 256;

    private fixed ulong _seen[SeenBits / 64];
    private uint _chunks;
    private int _wanted;

    /// <summary>All the byte strings of a list, or one of every few of them.</summary>
    public static void Look(ref RecordEdit edit, in Operands operands, int every = 1, int first = 0)
    {
        MembersAhead ahead = default;
        if (operands.Count <= every || !ahead.TryBegin(ref edit))
            return;
        int i = 0;
        for (Operands.Reader reader = operands.Read(); reader.Next(); i++)
        {
            if (i % every == first && !ahead.TryLook(ref edit, reader.Bytes, reader.Length))
                return;
        }
    }

    /// <summary>False if nothing of the value lies on a tier that could be fetched.</summary>
    public bool TryBegin(ref RecordEdit edit)
    {
        if (!edit.MayLack || !Root.IsChunked(edit.Value))
            return false;
        _chunks = Root.Chunks(edit.Value);
        return true;
    }

    /// <summary>False once so much is fetched that the rest has to wait.</summary>
    public bool TryLook(ref RecordEdit edit, byte* member, int bytes)
    {
        uint number = ChunkedMembers.NumberOf(RecordEdit.Hash(member, bytes, edit.Owner), _chunks);
        ref ulong seen = ref _seen[number / 64 % (SeenBits / 64)];
        ulong bit = 1UL << (int)(number % 64);
        if ((seen & bit) != 0)
            return true;
        seen |= bit;
        _wanted += edit.Foresees(number, isFirst: _wanted == 0) ? 1 : 0;
        return _wanted < ChunksMax;
    }
}
