using System.Buffers.Binary;
using Garnet.Common.Resp;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Lists;

/// <summary>Removes elements at an end and replies them (LPOP, RPOP, LMPOP, the source of LMOVE).</summary>
public struct ListPop : IEdit
{
    public bool Left;
    public long Count;
    /// <summary>Where the elements go, null for nowhere.</summary>
    public RespWriter? To;
    /// <summary>The reply is an array.</summary>
    public bool Many;
    /// <summary>LMPOP: the key's name stands before the elements.</summary>
    public Arg Name;
    public bool Named;

    public bool WrongKind;
    public bool Found;

    public static byte OpId => 19;

    public readonly long EncodedBytesMax => 9;

    public unsafe bool Run(ref RecordEdit edit)
    {
        WrongKind = edit.Exists && edit.Kind != RecordKind.List;
        Found = edit.Exists && !WrongKind;
        if (!Found)
            return false;
        long length = Root.Count(edit.Value);
        Count = Math.Min(Count, length);
        if (To != null)
            Show(ref edit, length);
        if (Count == 0)
            return false;
        ListForm.Remove(ref edit, Left ? 0 : length - Count, Count);
        return true;
    }

    public readonly int Encode(Span<byte> to)
    {
        to[0] = (byte)(Left ? 1 : 0);
        BinaryPrimitives.WriteInt64LittleEndian(to[1..], Count);
        return 9;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length != 9 || from[0] > 1)
            return false;
        Left = from[0] == 1;
        Count = BinaryPrimitives.ReadInt64LittleEndian(from[1..]);
        return Count > 0;
    }

    private readonly void Show(ref RecordEdit edit, long length)
    {
        if (Named)
        {
            To!.Array(2);
            To.Bulk(Name.Span);
        }

        if (Many)
            To!.Array((int)Count);
        if (Count == 0)
            return;
        ListWalk walk = ListWalk.From(ref edit, Left ? 0 : length);
        for (long i = 0; i < Count && (Left ? walk.Next(ref edit) : walk.Previous(ref edit)); i++)
            To!.Bulk(walk.Span);
    }
}
