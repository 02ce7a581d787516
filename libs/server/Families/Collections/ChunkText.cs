using Garnet.Common.Bytes;
using Garnet.Types.Collections;
using Garnet.Types.Keys;
using Garnet.Types.Lists;
using Tsavorite;

namespace Garnet.Server.Families.Collections;

/// <summary>
/// Gathers the entries of one chunk as operands, members of a sorted set behind their raw scores: those without expiry, or one that has one. Who is due is
/// left behind.
/// </summary>
internal unsafe struct ChunkText : IExamine
{
    /// <summary>Of the chunk.</summary>
    internal uint Number;
    /// <summary>One more than the slot that is wanted, 0 for all.</summary>
    internal int OnlySlot;
    internal ByteQueue Bytes;
    internal int Slots;
    internal long ExpireAtMs;

    public void Look(ref RecordEdit record)
    {
        EntryForm form = FormOf(record.Kind);
        Page page = ChunkedMembers.Open(ref record, Number);
        Slots = page.Count;
        for (int slot = Math.Max(OnlySlot - 1, 0); slot < (OnlySlot != 0 ? OnlySlot : page.Count); slot++)
        {
            Entry entry = page.EntryAt(form, slot);
            if (entry.ExpireAtMs != 0 != (OnlySlot != 0) || entry.IsDue(record.NowMs))
                continue;
            ExpireAtMs = entry.ExpireAtMs;
            if (form == EntryForm.Scored)
            {
                OperandText.Append(ref Bytes, entry.ValueSpan, entry.KeySpan);
                continue;
            }

            Add(entry.KeySpan);
            if (form == EntryForm.Pair)
                Add(entry.ValueSpan);
        }
    }

    private static EntryForm FormOf(RecordKind kind) =>
        kind == RecordKind.Set ? EntryForm.Member : kind == RecordKind.SortedSet ? EntryForm.Scored : EntryForm.Pair;

    private void Add(ReadOnlySpan<byte> bytes) => OperandText.Append(ref Bytes, bytes);
}
