using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>Acknowledges entries (XACK).</summary>
public struct GroupAck : IEdit
{
    public GroupIds Entries;

    public bool WrongKind;
    public long Acknowledged;

    public static byte OpId => 35;

    public readonly long EncodedBytesMax => Entries.EncodedBytes;

    public bool Run(ref RecordEdit edit)
    {
        WrongKind = edit.Exists && edit.Kind != RecordKind.Stream;
        if (!StreamGroups.TryGroup(ref edit, Entries.Name, out int group))
            return false;
        IdsAhead.LookAtPending(ref edit, group, Entries.Ids);
        for (int i = 0; i < Entries.Ids.Count; i++)
            Acknowledged += StreamGroups.TryAcknowledge(ref edit, group, Entries.Ids[i]) ? 1 : 0;
        return Acknowledged > 0;
    }

    public readonly int Encode(Span<byte> to) => Entries.Encode(to);

    public bool TryDecode(ReadOnlySpan<byte> from) => Entries.TryDecode(from);
}
