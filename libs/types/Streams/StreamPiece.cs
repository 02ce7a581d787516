using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>Puts a part of a stream as it is under a key. So a stream goes to another key with its groups and all they know.</summary>
public struct StreamPiece : IEdit, IPiece
{
    private ValuePiece _part;

    public ValuePiece Part
    {
        readonly get => _part;
        set => _part = value;
    }

    public static byte OpId => 33;

    public readonly long EncodedBytesMax => _part.EncodedBytesMax;

    public readonly bool Run(ref RecordEdit edit) => _part.TryPut(ref edit, RecordKind.Stream);

    public readonly int Encode(Span<byte> to) => _part.Encode(to);

    public bool TryDecode(ReadOnlySpan<byte> from) => _part.TryDecode(from, StreamHeader.Bytes);
}
