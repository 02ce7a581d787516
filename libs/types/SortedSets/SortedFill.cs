using Garnet.Common;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Types.SortedSets;

/// <summary>
/// Makes a sorted set of all that it begins with: members are dealt out to chunks made for them (<see cref="MemberFill"/>), then sorted once, and the
/// pages of their order written one behind the other. Put in one by one, each would be looked for in an order that changes with every one.
/// </summary>
internal static unsafe class SortedFill
{
    // An eighth of a page is left free for those that come later.
    private const int PageBytes = Sequence.SortedPageBytes * 7 / 8;

    /// <summary>
    /// Makes the set of what would not fit packed; of a member that is named twice the last score counts. False if that cannot be: nothing is there then.
    /// </summary>
    public static bool TryCreateLarge(
        ref RecordEdit edit, in Operands operands, in CollectionLimits limits, in FillTerms terms, out FillCounts counts)
    {
        counts = default;
        int members = MemberFill.CountOf(operands, MemberShape.SortedSet, terms);
        if (edit.Exists)
            return false;
        if (members <= CollectionLimits.PackedEntriesMax && operands.EncodedBytes() <= limits.PackedBytesMax * SortedForm.PackedTimes)
            return false;
        if (!MemberFill.TryCreate(ref edit, MemberShape.SortedSet, operands, SortedForm.Names(limits), terms, out counts))
            return false;
        if (TryOrder(ref edit))
            return true;
        edit.Remove();
        edit.OutOfMemory = false;
        return false;
    }

    /// <summary>Makes a packed set of distinct members with raw scores; false if that cannot be: nothing has changed then.</summary>
    public static bool TryCreatePacked(ref RecordEdit edit, in Operands scored, in CollectionLimits limits)
    {
        int count = scored.Count;
        if (edit.Exists || count is < 2 or > CollectionLimits.PackedEntriesMax)
            return false;
        RankedMember* ranked = stackalloc RankedMember[CollectionLimits.PackedEntriesMax];
        long bytes = Root.PackedBytes;
        bool exceeds = count > limits.EntriesMax;
        Operands.Reader reader = scored.Read();
        for (int i = 0; reader.Next(); i++)
        {
            ranked[i] = RankedMember.Of(reader);
            bytes += Entry.BytesOf(EntryForm.Scored, ranked[i].PartsWith(null));
            exceeds |= ranked[i].MemberBytes > limits.ValueBytesMax;
        }

        if (bytes > Math.Min(limits.PackedBytesMax * SortedForm.PackedTimes, EncodingSettings.PackedBytesLimit))
            return false;
        new Span<RankedMember>(ranked, count).Sort();
        byte* value = edit.Create(RecordKind.SortedSet, (int)bytes);
        if (value == null)
        {
            edit.OutOfMemory = false;
            return false;
        }

        *value = (byte)(exceeds ? RootFlags.Converted : RootFlags.None);
        Root.SetPackedCount(value, count);
        byte* at = value + Root.PackedBytes;
        for (int i = 0; i < count; i++)
        {
            double score = ranked[i].Score;
            at = Entry.Write(EntryForm.Scored, at, ranked[i].PartsWith(&score));
        }

        edit.Close();
        return true;
    }

    // The order of members that are in their chunks; false, and none of it is there, without memory, or if a score is no number.
    private static bool TryOrder(ref RecordEdit edit)
    {
        using var ranked = new NativeArray<RankedMember>(Root.ChunkedCount(edit.Value));
        var members = new Span<RankedMember>(ranked.Items, (int)Root.ChunkedCount(edit.Value));
        if (!TryGather(ref edit, members))
            return false;
        if (!IsInOrder(members))
            members.Sort();
        PageSlot* slots = stackalloc PageSlot[Math.Min(members.Length, PageDirectory.BranchPagesMax)];
        int pages = 0, done = 0;
        for (; done < members.Length && pages < PageDirectory.BranchPagesMax; pages++)
        {
            slots[pages] = new PageSlot { Number = RootLimit.SecondSet | (uint)pages, Sort = members[done].Score };
            if (!TryWritePage(ref edit, members[done..], ref slots[pages]))
            {
                RemovePages(ref edit, pages);
                return false;
            }

            done += slots[pages].Count;
        }

        if (!TryWriteDirectory(ref edit, slots, pages))
        {
            RemovePages(ref edit, pages);
            return false;
        }

        for (; done < members.Length; done++)
        {
            double score = members[done].Score;
            if (!SortedOrder.TryAdd(ref edit, members[done].PartsWith(&score)))
                return false;
        }

        return true;
    }

    private static bool TryGather(ref RecordEdit edit, Span<RankedMember> members)
    {
        int count = 0;
        bool areNumbers = true;
        for (uint chunk = 0; chunk < Root.Chunks(edit.Value); chunk++)
        {
            Page page = ChunkedMembers.Open(ref edit, chunk);
            for (int slot = 0; slot < page.Count; slot++)
            {
                members[count] = RankedMember.Of(page.EntryAt(EntryForm.Scored, slot));
                areNumbers &= !double.IsNaN(members[count++].Score);
            }
        }

        return areNumbers;
    }

    private static bool IsInOrder(ReadOnlySpan<RankedMember> members)
    {
        for (int i = 1; i < members.Length; i++)
        {
            if (members[i - 1].CompareTo(members[i]) > 0)
                return false;
        }

        return true;
    }

    // As many of the members as a page takes, at least one.
    private static bool TryWritePage(ref RecordEdit edit, ReadOnlySpan<RankedMember> members, ref PageSlot slot)
    {
        long used = 0;
        int count = 0;
        for (; count < members.Length; count++)
        {
            long bytes = SequencePage.BytesOf(members[count].MemberBytes + (long)Entry.ScoreBytes);
            if (count > 0 && used + bytes > PageBytes)
                break;
            used += bytes;
        }

        int capacity = Sequence.CapacityFor(SequenceKind.Sorted, used);
        byte* chunk = edit.WriteChunk(slot.Number, capacity);
        if (chunk == null)
            return false;
        SequencePage page = SequencePage.Clear(chunk, capacity, 0, SequenceKind.Sorted);
        byte* start = page.End, at = start;
        foreach (ref readonly RankedMember member in members[..count])
        {
            double score = member.Score;
            at = SequencePage.Write(at, new ReadOnlySpan<byte>(&score, sizeof(double)), member.Span);
        }

        page.Append(start, at, count); // the bytes lie in their place already: this only notes them
        slot.Count = count;
        return true;
    }

    private static bool TryWriteDirectory(ref RecordEdit edit, PageSlot* slots, int pages)
    {
        long bytes = pages * (long)sizeof(PageSlot);
        byte* root = edit.Write((int)(Root.ChunkedBytes + bytes));
        if (root == null)
            return false;
        Buffer.MemoryCopy(slots, PageDirectory.SlotsOf(root), bytes, bytes);
        Root.SetSlots(root, pages);
        Root.RaiseLimit(root, slots[pages - 1].Number);
        edit.Close();
        return true;
    }

    // The root does not name these pages yet: nobody else would remove them.
    private static void RemovePages(ref RecordEdit edit, int pages)
    {
        while (pages > 0)
            edit.RemoveChunk(RootLimit.SecondSet | (uint)--pages);
    }
}
