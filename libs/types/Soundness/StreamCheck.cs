using Garnet.Types.Collections;
using Garnet.Types.Streams;
using Tsavorite;

namespace Garnet.Types.Soundness;

/// <summary>A stream: its directory and pages (streams.S1, streams.S2), groups (streams.G1), producers (streams.H1).</summary>
public static unsafe class StreamCheck
{
    public static bool IsSound(ref RecordEdit edit, ref uint limit)
    {
        if (edit.ValueBytes < StreamHeader.Bytes)
            return false;
        StreamHeader* header = StreamForm.Header(ref edit);
        if (((RootFlags)header->Flags & ~RootFlags.Converted) != RootFlags.Chunked || header->Length < 0 || header->Groups < 0)
            return false;
        if ((header->Limit & RootLimit.ThirdSet) != 0)
            return false; // a stream has no chunk there, and who goes through its chunks takes the limit as it is
        return ArePages(ref edit, ref limit) && GroupsCheck.AreSound(ref edit, ref limit) && StreamProducers.AreSound(ref edit, ref limit);
    }

    private static bool ArePages(ref RecordEdit edit, ref uint limit)
    {
        StreamHeader* header = StreamForm.Header(ref edit);
        int known = (edit.ValueBytes - StreamHeader.Bytes) / StreamSlot.Bytes;
        if (header->Pages < 0 || header->Skipped < 0 || (long)header->Pages + header->Skipped > known)
            return false;
        NumberList.Begin();
        for (int i = 0; i < known; i++)
        {
            uint number = StreamForm.Slot(edit.Value, i - header->Skipped)->Number;
            if (number >= (uint)known)
                return false;
            NumberList.Add(number);
        }

        long live = 0;
        StreamId last = default;
        for (int page = 0; page < header->Pages; page++)
        {
            StreamSlot slot = *StreamForm.Slot(edit.Value, page);
            byte* at = edit.Chunk(slot.Number, out int bytes);
            if (at == null || (page > 0 && slot.First <= last) || !new StreamPage(at, bytes).IsSound(slot.First))
                return false;
            last = new StreamPage(at, bytes).Last;
            live += new StreamPage(at, bytes).Live;
            limit = Math.Max(limit, slot.Number + 1);
        }

        return live == header->Length && last <= header->Last && NumberList.AreDistinct();
    }
}
