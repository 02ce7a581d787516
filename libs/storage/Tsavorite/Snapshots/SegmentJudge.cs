using System.ComponentModel;
using Garnet.Common;
using Garnet.Media;

namespace Tsavorite;

/// <summary>
/// Judges whether segments on a medium are those that a snapshot names, by two pages of each: the one with its head, which was written first, and the one that was
/// written last. What lies between was written in this order and made durable before the snapshot counted, so that a medium that has both has all of it.
/// </summary>
internal sealed unsafe class SegmentJudge(IMedium medium, MediumId id, int segmentBytes)
{
    private const int SegmentsAtOnce = 64, PagesAtOnce = 2 * SegmentsAtOnce, PageBytes = ColdSegments.PageBytes;
    private readonly int[] _results = new int[PagesAtOnce];

    /// <summary>Segments whose head or last page is damaged, and how: their records show for themselves what they are.</summary>
    public List<string> Damaged { get; } = [];

    /// <summary>Segments that are others: missing, cut off, older, or another's.</summary>
    public List<uint> Others { get; } = [];

    /// <summary>The longest records of segments that are named where their heads say that they are less than their bands do, with the segments' lives.</summary>
    public Dictionary<uint, (ulong Life, int RecordMax)> RecordMax { get; } = [];

    /// <summary>Looks at all of them.</summary>
    public void Judge(IEnumerable<SegmentRow> rows)
    {
        using NativeArray<byte> pages = new(PagesAtOnce * (long)PageBytes, PageBytes);
        using IMediumReader reader = medium.OpenReader(PagesAtOnce, ReaderWake.None);
        foreach (SegmentRow[] part in rows.OrderBy(static row => row.Number).Chunk(SegmentsAtOnce))
        {
            Read(reader, part, pages.Items);
            for (int i = 0; i < part.Length; i++) Judge(part[i], i * 2, pages.Items);
        }
    }

    // Of each segment two places: the head's, and the end's.
    private void Read(IMediumReader reader, SegmentRow[] part, byte* pages)
    {
        FinishedRead[] finished = new FinishedRead[PagesAtOnce];
        int left = part.Length * 2;
        for (int place = 0; place < left; place++)
        {
            SegmentRow row = part[place / 2];
            long at = (long)row.Number * segmentBytes;
            if (place % 2 != 0)
                at += ColdEnd.PageAt(row.Used);
            reader.Begin((ulong)place, at, pages + ((long)place * PageBytes), PageBytes);
        }
        reader.Submit();
        while (left > 0)
        {
            int taken = reader.Take(finished);
            if (taken == 0)
                reader.Wait();
            foreach (FinishedRead read in finished.AsSpan(0, taken)) _results[read.Token] = read.Result;
            left -= taken;
        }
    }

    private void Judge(in SegmentRow row, int place, byte* pages)
    {
        byte* head = pages + ((long)place * PageBytes), end = head + PageBytes;
        ColdHeadState first = StateOf(_results[place]), last = StateOf(_results[place + 1]);
        if (first == ColdHeadState.Named)
            first = ColdHead.Judge(head, row, id);
        if (first == ColdHeadState.Named && ColdHead.RecordMax(head) is > 0 and var recordMax)
            RecordMax[row.Number] = (row.Life, recordMax);
        if (last == ColdHeadState.Named)
            last = ColdEnd.Judge(end, row.End);
        if (first == ColdHeadState.Other || last == ColdHeadState.Other)
            Others.Add(row.Number);
        else if (first == ColdHeadState.Damaged)
            Damaged.Add($"{PlaceOf(row)}: {WhyOf(_results[place], "the checksum of its head is wrong")}");
        else if (last == ColdHeadState.Damaged)
            Damaged.Add($"{PlaceOf(row)}: {WhyOf(_results[place + 1], "the checksum of its last page is wrong")}");
    }

    private string PlaceOf(in SegmentRow row) => SegmentPlace.Of(row.Number, segmentBytes, id);

    // What ends before the page does was cut; what cannot be read says nothing.
    private static ColdHeadState StateOf(int result) =>
        result < 0 ? ColdHeadState.Damaged : result != PageBytes ? ColdHeadState.Other : ColdHeadState.Named;

    private static string WhyOf(int result, string wrong) => result < 0 ? new Win32Exception(-result).Message : wrong;
}
