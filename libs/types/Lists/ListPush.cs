using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Lists;

/// <summary>Adds elements at an end (LPUSH, RPUSH and what moves elements).</summary>
public struct ListPush : IEdit
{
    private const byte LogsLeft = 1, LogsLarge = 2;

    public Operands Values;
    public bool Left;
    public bool OnlyIfThere;
    public ListLimits Limits;
    /// <summary>The list counts as large from now on.</summary>
    public bool Converted;

    /// <summary>Elements afterwards.</summary>
    public long Length;
    public bool WrongKind;

    public static byte OpId => 18;

    public readonly long EncodedBytesMax => 1 + Values.EncodedBytes();

    /// <inheritdoc/>
    public static bool IsAllOrNothing => true;

    public unsafe bool Run(ref RecordEdit edit)
    {
        WrongKind = edit.Exists && edit.Kind != RecordKind.List;
        if (WrongKind || (OnlyIfThere && !edit.Exists))
            return false;
        int done = 0;
        for (Operands.Reader reader = Values.Read(); reader.Next(); done++)
        {
            edit.CleanBehind();
            long index = Left || !edit.Exists ? 0 : Root.Count(edit.Value);
            if (!ListForm.TryInsert(ref edit, index, reader.Span, Limits))
                break;
        }

        Values.Truncate(done);
        if (done == 0)
            return false;
        Converted |= ListForm.IsLarge(ref edit, Limits);
        if (Converted)
            Root.Raise(ref edit, RootFlags.Converted);
        Length = Root.Count(edit.Value);
        return true;
    }

    public readonly int Encode(Span<byte> to)
    {
        to[0] = (byte)((Left ? LogsLeft : 0) | (Converted ? LogsLarge : 0));
        return 1 + Values.Encode(to[1..]);
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.IsEmpty || from[0] > (LogsLeft | LogsLarge))
            return false;
        Left = (from[0] & LogsLeft) != 0;
        Converted = (from[0] & LogsLarge) != 0;
        Limits = ListLimits.Replay;
        return Operands.TryDecode(from[1..], out Values) && Values.Count > 0;
    }
}
