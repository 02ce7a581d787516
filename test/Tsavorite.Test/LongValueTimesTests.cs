using NUnit.Framework;

namespace Tsavorite.Test;

/// <summary>A value in an extent of its own has the place for a time from the beginning: it is not copied for one, however it has come there.</summary>
internal sealed unsafe class LongValueTimesTests
{
    private const int Bytes = 20_000; // more than a segment of a bench takes
    private const long Later = 2_000_000;

    [Test]
    public void A_time_is_set_and_taken_away_where_the_value_lies([Values("set", "replaced", "grown", "staged", "grown from short")] string way)
    {
        using Bench bench = new();
        Make(bench, way);
        nint at = PlaceOf(bench);
        long used = bench.Store.Figures().UsedBytes;
        byte[] value = bench.Get("k")!;
        foreach (long expireAtMs in (long[])[Later, 2 * Later, 0, Later])
        {
            Assert.That(bench.Fields("k", expireAtMs, etag: 0), Is.EqualTo(Outcome.Done));
            Assert.That((bench.Get("k"), bench.Last.ExpireAtMs), Is.EqualTo((value, expireAtMs)));
            Assert.That((PlaceOf(bench), bench.Store.Figures().UsedBytes), Is.EqualTo((at, used)), way);
        }
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
        bench.NowMs = Later;
        bench.StepUntilIdle();
        Assert.That((bench.Get("k"), bench.Store.Figures().ExpiredKeys), Is.EqualTo(((byte[]?)null, 1)));
    }

    // A page is full with the value alone: the place for the time is in what is taken for it.
    [Test]
    public void There_is_a_place_however_long_the_value_is()
    {
        using Bench bench = new();
        for (int bytes = (3 * Arena.PageBytes) - 40; bytes < (3 * Arena.PageBytes) + 40; bytes++)
        {
            bench.Set("k", [.. Enumerable.Range(0, bytes).Select(static i => (byte)i)]);
            nint at = PlaceOf(bench);
            bench.Fields("k", Later, etag: 0);
            Assert.That(PlaceOf(bench), Is.EqualTo(at), $"{bytes}");
            Assert.That(bench.Get("k"), Is.EqualTo(Enumerable.Range(0, bytes).Select(static i => (byte)i)));
            Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
            bench.Delete("k");
        }
    }

    private static void Make(Bench bench, string way)
    {
        switch (way)
        {
            case "staged":
                using (StagedValue staged = StagedValue.TryBegin(bench.Session, bench.Key("k"), Bytes)!)
                {
                    new Span<byte>(staged.Bytes, Bytes).Fill(7);
                    var put = new StagedValueTests.PutThere { Value = staged.Bytes, Length = Bytes };
                    staged.Put(bench.Session, bench.Key("k"), ref put);
                }
                return;
            case "replaced":
                bench.Set("k", new byte[Bytes * 3]);
                break;
            case "grown":
                bench.Set("k", new byte[Bytes]);
                for (int i = 0; i < 3; i++) bench.Append("k", new byte[Bytes]);
                return;
            case "grown from short":
                bench.Set("k", "short");
                bench.Append("k", new byte[Bytes]);
                return;
        }
        bench.Set("k", new byte[Bytes]);
    }

    private static nint PlaceOf(Bench bench)
    {
        var look = default(PlaceLook);
        Assert.That(bench.Session.Examine(bench.Key("k"), ref look, quiet: true), Is.EqualTo(Outcome.Done));
        return look.At;
    }

    private struct PlaceLook : IExamine
    {
        internal nint At;

        public void Look(ref RecordEdit record) => At = (nint)record.Value;
    }
}
