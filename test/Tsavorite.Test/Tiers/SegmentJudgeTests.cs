using System.Diagnostics;
using Garnet.Common;
using Garnet.Media;
using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>What it costs to tell whether a tier is the one that a snapshot names.</summary>
public sealed unsafe class SegmentJudgeTests
{
    private const int Segments = 10_000, SegmentBytes = 1 << 20, Page = 4096, Used = SegmentBytes - 100;

    [Test, Explicit("a measurement: wants 10 GB of disk")]
    public void Ten_thousand_segments()
    {
        using FileMedium medium = FileMedium.Make(Path.GetTempPath(), (Segments + 1L) * SegmentBytes);
        using NativeArray<byte> pages = new(2 * Page, Page);
        List<SegmentRow> rows = [];
        for (uint number = 1; number <= Segments; number++)
        {
            byte* head = pages.Items, end = head + Page;
            ColdSegment segment = new() { Life = number };
            ColdHead.Write(head, number, &segment, new MediumId(0, 7));
            Random.Shared.NextBytes(new Span<byte>(end, Page));
            Assert.That(medium.Write((long)number * SegmentBytes, head, Page), Is.Zero);
            Assert.That(medium.Write(((long)number * SegmentBytes) + ColdEnd.PageAt(Used), end, Page), Is.Zero);
            rows.Add(new SegmentRow { Number = number, Life = number, Used = Used, End = ColdEnd.MarkOf(end) });
        }
        Assert.That(medium.Sync(), Is.Zero);
        SegmentJudge judge = new(medium, new MediumId(0, 7), SegmentBytes);
        long began = Stopwatch.GetTimestamp();
        judge.Judge(rows);
        TestContext.Out.WriteLine($"{Stopwatch.GetElapsedTime(began).TotalMilliseconds:F0} ms, {medium.Facts.Reading}, direct {medium.Facts.IsDirect}");
        Assert.That((judge.Others.Count, judge.Damaged.Count), Is.EqualTo((0, 0)));
    }
}
