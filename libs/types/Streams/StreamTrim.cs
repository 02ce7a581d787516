using System.Buffers.Binary;
using System.Runtime.InteropServices;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>Removes entries from the front (XTRIM, and XADD that trims). Logged with their number, or with what was asked where groups decide.</summary>
public struct StreamTrim : IEdit
{
    private const int Bytes = 2 + (2 * sizeof(long)) + StreamIds.IdBytes;

    public TrimPlan Plan;
    public ReferencePolicy Policy;

    public bool WrongKind;
    /// <summary>Entries removed.</summary>
    public long Removed;

    public static byte OpId => 30;

    public readonly long EncodedBytesMax => Bytes;

    public unsafe bool Run(ref RecordEdit edit)
    {
        WrongKind = edit.Exists && edit.Kind != RecordKind.Stream;
        if (!edit.Exists || WrongKind)
            return false;
        if (StreamForm.Header(ref edit)->Groups == 0)
            Policy = ReferencePolicy.Keep;
        if (Policy == ReferencePolicy.Acknowledged)
        {
            Removed = References.TrimAcknowledged(ref edit, Plan);
            return Removed > 0;
        }

        Removed = Plan.Count(ref edit);
        if (Removed == 0)
            return false;
        StreamForm.LookAtFirst(ref edit, Removed);
        if (Policy == ReferencePolicy.Delete)
            References.DeleteFirst(ref edit, Removed);
        StreamForm.Trim(ref edit, Removed);
        Plan = TrimPlan.First(Removed); // whole pages are this server's affair
        return true;
    }

    public readonly int Encode(Span<byte> to)
    {
        to[0] = (byte)Policy;
        to[1] = (byte)(Plan.ByLength ? 1 : 0);
        BinaryPrimitives.WriteInt64LittleEndian(to[2..], Plan.LengthMax);
        BinaryPrimitives.WriteInt64LittleEndian(to[10..], Plan.Limit);
        MemoryMarshal.Write(to[18..], Plan.MinId);
        return Bytes;
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length != Bytes || from[0] > (byte)ReferencePolicy.Acknowledged || from[1] > 1)
            return false;
        Policy = (ReferencePolicy)from[0];
        Plan.ByLength = from[1] == 1;
        Plan.LengthMax = BinaryPrimitives.ReadInt64LittleEndian(from[2..]);
        Plan.Limit = BinaryPrimitives.ReadInt64LittleEndian(from[10..]);
        Plan.MinId = MemoryMarshal.Read<StreamId>(from[18..]);
        return Plan.Limit >= 0;
    }
}
