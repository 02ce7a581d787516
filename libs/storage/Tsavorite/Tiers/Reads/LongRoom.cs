using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>The memory of the long records that one session has begun to read, as long as it is there.</summary>
internal sealed unsafe class LongRoom
{
    private readonly List<ColdRead> _held = [];
    private long _bytes;

    /// <summary>True if the record may be begun though there are others: together they are no more than may be kept, or one step needs them together, or the step that has waited for longest does.</summary>
    public bool MayTake(ColdRead read, long bytesMax) =>
        _bytes == 0 || _bytes + read.BytesMax <= bytesMax || read.IsHeld || (read.IsWanted && HoldsOf(read.NeededIn));

    /// <summary>The record is begun: there is memory for its parts.</summary>
    public void Begin(ColdRead read, ColdPart[] parts)
    {
        long room = LongRead.RoomFor(parts);
        read.To = (nint)NativeMemory.AlignedAlloc((nuint)(room + ColdRead.SlackBytes), ColdSegments.PageBytes);
        new Span<byte>((byte*)read.To + room, ColdRead.SlackBytes).Clear();
        read.Long = new LongRead(parts, (byte*)read.To, read.Place);
        read.State = ColdReadState.UnderWay;
        _bytes += read.BytesMax;
        _held.Add(read);
    }

    /// <summary>It is read, and looked at, no more.</summary>
    public void Free(ColdRead read)
    {
        Free(read.To);
        Leave(read);
        read.Record = null;
        read.RecordBytes = 0;
        read.Long = null;
    }

    /// <summary>Copies what somebody wants of a record that has come to where it stays.</summary>
    public static void Keep(ColdRead read, byte* from, int bytes)
    {
        int kept = read.KeptBytes(from, bytes);
        read.Keep((nint)NativeMemory.Alloc((nuint)(kept + ColdRead.SlackBytes)), from, kept);
    }

    /// <summary>It has come, and nobody wants its value: only the head stays, with memory of its own as one in one segment has.</summary>
    public void KeepHead(ColdRead read)
    {
        nint all = read.To;
        Leave(read);
        Keep(read, read.Record, read.RecordBytes);
        Free(all);
        (read.Long, read.To, read.Parts) = (null, 0, 1);
    }

    /// <summary>Its memory is another's to free.</summary>
    public void Leave(ColdRead read)
    {
        _bytes -= read.BytesMax;
        _held.Remove(read);
    }

    /// <summary>Frees memory that one was read to.</summary>
    public static void Free(nint memory) => NativeMemory.AlignedFree((void*)memory);

    private bool HoldsOf(long step)
    {
        foreach (ColdRead held in _held)
        {
            if (held.NeededIn == step)
                return true;
        }
        return false;
    }
}
