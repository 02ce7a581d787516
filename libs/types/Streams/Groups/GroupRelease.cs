using System.Buffers.Binary;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>
/// Takes pending entries from whoever has them, so that others may claim them at once, before all that was only left alone (XNACK). Logged
/// with all ids that were tried.
/// </summary>
public unsafe struct GroupRelease : IEdit
{
    private const int FixedBytes = 2 + sizeof(long);

    public GroupIds Entries;
    public ReleaseMode Mode;
    /// <summary>How often they count as delivered, -1 for what the mode says.</summary>
    public long Deliveries;
    /// <summary>Entries that are not pending become so.</summary>
    public bool Forces;

    public bool Found;
    public long Released;

    public static byte OpId => 42;

    public readonly long EncodedBytesMax => FixedBytes + Entries.EncodedBytes;

    public bool Run(ref RecordEdit edit)
    {
        Found = StreamGroups.TryGroup(ref edit, Entries.Name, out int group);
        if (Found)
            IdsAhead.LookAtPending(ref edit, group, Entries.Ids);
        int done = 0;
        while (Found && done < Entries.Ids.Count && TryRelease(ref edit, group, Entries.Ids[done]))
            done++;
        Entries.Ids.Truncate(done);
        return Released > 0;
    }

    public readonly int Encode(Span<byte> to)
    {
        to[0] = (byte)Mode;
        to[1] = (byte)(Forces ? 1 : 0);
        BinaryPrimitives.WriteInt64LittleEndian(to[2..], Deliveries);
        return FixedBytes + Entries.Encode(to[FixedBytes..]);
    }

    public bool TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < FixedBytes || from[0] > (byte)ReleaseMode.Fatal || from[1] > 1)
            return false;
        Mode = (ReleaseMode)from[0];
        Forces = from[1] == 1;
        Deliveries = BinaryPrimitives.ReadInt64LittleEndian(from[2..]);
        return Deliveries >= -1 && Entries.TryDecode(from[FixedBytes..]);
    }

    // False if there is no memory.
    private bool TryRelease(ref RecordEdit edit, int group, StreamId id)
    {
        PendingState* pending = StreamGroups.Pending(ref edit, group, id);
        if (pending == null && !(Forces && StreamForm.TryFind(ref edit, id, out _, out _)))
            return true;
        if (!StreamGroups.TryRelease(ref edit, group, id, DeliveriesFrom(pending == null ? 0 : pending->Deliveries)))
            return false;
        Released++;
        return true;
    }

    private readonly long DeliveriesFrom(long before)
    {
        if (Deliveries >= 0)
            return Deliveries;
        return Mode switch
        {
            ReleaseMode.Silent => Math.Max(before - 1, 0),
            ReleaseMode.Fatal => long.MaxValue,
            _ => before,
        };
    }
}
