using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Lists;

/// <summary>Puts a part of a list in chunks as it is under a key: a page is copied for the hundreds of elements in it.</summary>
public struct ListPiece : IEdit, IPiece
{
    private ValuePiece _part;

    public ValuePiece Part
    {
        readonly get => _part;
        set => _part = value;
    }

    public static byte OpId => 44;

    public readonly long EncodedBytesMax => _part.EncodedBytesMax;

    public readonly bool Run(ref RecordEdit edit) => _part.TryPut(ref edit, RecordKind.List);

    public readonly int Encode(Span<byte> to) => _part.Encode(to);

    public bool TryDecode(ReadOnlySpan<byte> from) => _part.TryDecode(from, PageDirectory.FirstRootBytes);
}
