using System.Buffers.Binary;
using Garnet.Common;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.SortedSets;

/// <summary>Removes elements by their ranks (ZREMRANGEBY…, ZPOP…), perhaps replying them.</summary>
public unsafe struct SortedSetCut : IEdit, ISortedEdit
{
    private const int StackBytes = 256, SlackBytes = 32;

    public SortRange Range;
    /// <summary>Replies the elements, null for not.</summary>
    public SortedReply? To;
    private long _rank;
    private bool _decoded;

    /// <summary>Elements removed.</summary>
    public long Count;
    public bool WrongKind;
    public bool Found;

    public bool MetDue { get; set; }

    public static byte OpId => 24;

    public readonly long EncodedBytesMax => 16;

    public bool Run(ref RecordEdit edit)
    {
        WrongKind = edit.Exists && edit.Kind != RecordKind.SortedSet;
        MetDue = edit.Exists && !WrongKind && HiddenRanks.Any(ref edit);
        Found = edit.Exists && !WrongKind && !MetDue;
        if (!Found)
            return false;
        if (!_decoded)
            (_rank, Count) = Range.Resolve(ref edit, default);
        else if (_rank >= Root.Count(edit.Value) || Count > Root.Count(edit.Value) - _rank)
            return false; // no ranks of this set
        if (Count < Root.Count(edit.Value))
            PagesAhead.LookToCut(ref edit, _rank, Count);
        To?.Write(ref edit, (_rank, Count), Range.Reverse, default);
        if (Count >= Root.Count(edit.Value))
        {
            edit.Remove();
            return true;
        }

        for (long i = 0; i < Count; i++)
        {
            RemoveFirst(ref edit);
            edit.CleanBehind();
        }

        return Count > 0;
    }

    public readonly void RemoveDue(StoreSession store, in KeyRef key) => SortedEdits.RemoveDue(store, in key);

    public readonly int Encode(Span<byte> to)
    {
        BinaryPrimitives.WriteInt64LittleEndian(to, _rank);
        BinaryPrimitives.WriteInt64LittleEndian(to[8..], Count);
        return 16;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length != 16)
            return false;
        _decoded = true;
        _rank = BinaryPrimitives.ReadInt64LittleEndian(from);
        Count = BinaryPrimitives.ReadInt64LittleEndian(from[8..]);
        return _rank >= 0 && Count > 0;
    }

    private readonly void RemoveFirst(ref RecordEdit edit)
    {
        var walk = default(SortedWalk);
        walk.Begin(ref edit, _rank, default);
        walk.Next(ref edit);
        // A copy: the member lies in the page that is about to change.
        byte* near = stackalloc byte[StackBytes];
        bool isLong = walk.MemberBytes > StackBytes - SlackBytes;
        using NativeArray<byte> far = isLong ? new NativeArray<byte>((long)walk.MemberBytes + SlackBytes) : default;
        byte* member = isLong ? far.Items : near;
        Buffer.MemoryCopy(walk.Member, member, walk.MemberBytes, walk.MemberBytes);
        SequencePlace? place = Root.IsChunked(edit.Value) ? Sequence.Seek(ref edit, _rank) : null;
        SortedForm.Remove(ref edit, member, walk.MemberBytes, place);
    }
}
