using Garnet.Common.Resp;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.Streams;

/// <summary>Replies how much is pending of a group, and for whom (XPENDING without a range).</summary>
public unsafe struct PendingSummaryLook : IExamine
{
    public Operands Name;
    public RespWriter To;

    public bool WrongKind;
    public bool NoGroup;

    public void Look(ref RecordEdit record)
    {
        WrongKind = record.Kind != RecordKind.Stream;
        if (WrongKind)
            return;
        NoGroup = !StreamGroups.TryGroup(ref record, Name, out int group);
        if (!NoGroup)
            Write(ref record, group, To);
    }

    private static void Write(ref RecordEdit record, int group, RespWriter to)
    {
        long pending = StreamGroups.State(ref record, group).Pending;
        to.Array(4);
        to.Int(pending);
        if (pending == 0)
        {
            to.Null();
            to.Null();
            to.NullArray();
            return;
        }

        ulong owner = StreamGroups.Owner(group, -1);
        MapPlace place = StreamGroups.ByGroup.Seek(ref record, new PendingKey(owner, StreamId.Min));
        StreamGroups.ByGroup.TryRead(ref record, ref place, out PendingKey first, out _);
        StreamEntry.Reply(first.Id, to);
        StreamGroups.ByGroup.TryLastBefore(ref record, new PendingKey(StreamGroups.Owner(group, 0), StreamId.Min), out PendingKey last);
        StreamEntry.Reply(last.Id, to);
        NameTable consumers = StreamGroups.Consumers(ref record, group);
        int count = 0;
        for (int i = 0; i < consumers.Count; i++)
            count += PendingOf(consumers, i) > 0 ? 1 : 0;
        to.Array(count);
        for (int i = 0; i < consumers.Count; i++)
        {
            if (PendingOf(consumers, i) == 0)
                continue;
            to.Array(2);
            to.Bulk(consumers.Name(consumers.SlotAt(i)));
            to.BulkInt(PendingOf(consumers, i));
        }
    }

    private static long PendingOf(NameTable consumers, int index) => ((ConsumerState*)consumers.State(consumers.SlotAt(index)))->Pending;
}
