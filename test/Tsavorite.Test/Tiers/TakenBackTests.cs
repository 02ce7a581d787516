using Garnet.Common;
using NUnit.Framework;

namespace Tsavorite.Test.Tiers;

/// <summary>What an edit has changed is kept as it was once another part of the value may lie on the tier (store.C7), and not before.</summary>
internal sealed class TakenBackTests
{
    private const int ChunkBytes = 3000, Eio = 5;
    private const uint First = 0, Second = 4;

    [Test]
    public void Nothing_is_kept_before_something_has_gone_to_the_tier_and_all_that_changes_from_then_on()
    {
        using SimulatedMedium medium = new(16 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        Write(bench, First, 1);
        Assert.That(AllocatedByFirst(bench, Edit(First, 2)), Is.LessThan(ChunkBytes));
        bench.Cold(1, 100);
        Write(bench, First, 3); // takes it back
        Assert.That(AllocatedByFirst(bench, Edit(First, 4)), Is.GreaterThan(ChunkBytes));
    }

    [Test]
    public void A_session_that_has_edited_before_takes_back_what_it_has_changed_half()
    {
        using SimulatedMedium medium = new(16 << 20);
        using Bench bench = new(TieredBench.Settings(medium));
        Write(bench, First, 1);
        Write(bench, Second, 2);
        TwoChunks both = new() { First = Edit(First, 3), Second = Edit(Second, 4) };
        Assert.That(bench.Session.Edit(bench.Key("root"), ref both), Is.EqualTo(Outcome.Done), "all is in memory");
        bench.Demote();
        bench.Demote();
        Write(bench, First, 5); // the second stays where it is
        medium.FailsRead = static _ => Eio;
        both = new() { First = Edit(First, 6), Second = Edit(Second, 7) };
        Assert.Throws<GarnetException>(() => bench.Session.Edit(bench.Key("root"), ref both));
        medium.FailsRead = static _ => 0;
        Assert.That((Read(bench, First), Read(bench, Second)), Is.EqualTo(((byte)5, (byte)4)));
        Assert.That(bench.Session.Edit(bench.Key("root"), ref both), Is.EqualTo(Outcome.Done));
        Assert.That((Read(bench, First), Read(bench, Second)), Is.EqualTo(((byte)6, (byte)7)));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    // More is changed than is kept to take it back: all of it was read before that, and is read again on the way, by whoever may wait for some seconds only.
    [TestCase(300, 0)]
    [TestCase(990, 0)]
    [TestCase(100, 35)] // so long nothing comes then
    public void What_cannot_be_taken_back_any_more_waits_for_the_disk(int takesMs, int silentSeconds)
    {
        const int Hot = 20, Cold = 12, Bytes = BeforeImages.BytesMax / 16;
        using HangingDiskStage stage = new(static settings => settings with { TierSegmentBytes = 2 << 20 });
        for (uint i = 0; i < Hot + Cold; i++) Write(stage.Bench, i, 1, Bytes);
        stage.Bench.Demote();
        stage.Bench.Demote();
        for (uint i = 0; i < Hot; i++) Write(stage.Bench, i, 2, Bytes);
        long silentUntilUs = 0;
        stage.Medium.Hangs = _ => stage.NowUs < silentUntilUs;
        (stage.Tier.MayPostpone, stage.Tier.Turn, stage.Medium.TakesUs) = (static () => false, static () => 1, takesMs * 1000L);
        ManyChunks all = new()
        {
            Edits = [.. Enumerable.Range(0, Hot + Cold).Select(static i => Edit((uint)i, 3, Bytes))],
            Before = i => silentUntilUs = i == Hot ? stage.NowUs + (silentSeconds * 1_000_000L) : silentUntilUs,
        };
        Assert.That(stage.Bench.Session.Edit(stage.Bench.Key("root"), ref all), Is.EqualTo(Outcome.Done));
        Assert.That(stage.NowUs, Is.GreaterThan(Math.Max(takesMs * Cold, silentSeconds * 1000) * 1000L));
        stage.Medium.TakesUs = 0;
        for (uint i = 0; i < Hot + Cold; i++) Assert.That(Read(stage.Bench, i, Bytes), Is.EqualTo(3), $"{i}");
        Assert.That(StoreCheck.Run(stage.Bench.Store), Is.Empty);
    }

    // A disk that is reset is silent first, and then fails for a moment.
    [TestCase(0)]
    [TestCase(15)]
    public void A_read_that_fails_for_a_moment_when_nothing_can_be_taken_back_any_more_is_made_again(int silentSeconds)
    {
        const int Hot = 20, Cold = 12, Bytes = BeforeImages.BytesMax / 16;
        const long FailsUs = 300_000;
        using HangingDiskStage stage = new(static settings => settings with { TierSegmentBytes = 2 << 20 });
        for (uint i = 0; i < Hot + Cold; i++) Write(stage.Bench, i, 1, Bytes);
        stage.Bench.Demote();
        stage.Bench.Demote();
        for (uint i = 0; i < Hot; i++) Write(stage.Bench, i, 2, Bytes);
        long silentUntilUs = long.MaxValue;
        int failed = 0;
        stage.Medium.Hangs = _ => silentUntilUs != long.MaxValue && stage.NowUs < silentUntilUs;
        stage.Medium.FailsRead = _ => stage.NowUs >= silentUntilUs && stage.NowUs < silentUntilUs + FailsUs && ++failed > 0 ? Eio : 0;
        stage.Medium.TakesUs = 1000;
        ManyChunks all = new()
        {
            Edits = [.. Enumerable.Range(0, Hot + Cold).Select(static i => Edit((uint)i, 3, Bytes))],
            Before = i => silentUntilUs = i == Hot ? stage.NowUs + (silentSeconds * 1_000_000L) : silentUntilUs,
        };
        Assert.That(stage.Bench.Session.Edit(stage.Bench.Key("root"), ref all), Is.EqualTo(Outcome.Done));
        Assert.That(failed, Is.Positive);
        stage.Medium.TakesUs = 0;
        for (uint i = 0; i < Hot + Cold; i++) Assert.That(Read(stage.Bench, i, Bytes), Is.EqualTo(3), $"{i}");
    }

    private static ChunkEdit Edit(uint chunk, byte fill, int length = ChunkBytes)
    {
        byte[] bytes = new byte[length];
        Array.Fill(bytes, fill);
        return new ChunkEdit { Number = chunk, Bytes = bytes };
    }

    private static void Write(Bench bench, uint chunk, byte fill, int length = ChunkBytes)
    {
        ChunkEdit edit = Edit(chunk, fill, length);
        Assert.That(bench.Session.Edit(bench.Key("root"), ref edit), Is.EqualTo(Outcome.Done));
    }

    private static byte Read(Bench bench, uint chunk, int length = ChunkBytes)
    {
        ChunkCopy copy = new() { Number = chunk };
        Assert.That(bench.Session.Examine(bench.Key("root"), ref copy), Is.EqualTo(Outcome.Done));
        Assert.That(copy.Bytes, Has.Length.EqualTo(length));
        Assert.That(copy.Bytes!.AsSpan().IndexOfAnyExcept(copy.Bytes![0]), Is.EqualTo(-1));
        return copy.Bytes[0];
    }

    // By the first edit of a session, which has no room for images yet.
    private static long AllocatedByFirst(Bench bench, ChunkEdit edit)
    {
        using StoreSession session = bench.Store.OpenSession();
        session.NowMs = bench.NowMs;
        long before = GC.GetAllocatedBytesForCurrentThread();
        Assert.That(session.Edit(bench.Key("root"), ref edit), Is.EqualTo(Outcome.Done));
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }

    // One chunk after the other.
    private struct TwoChunks : IEdit
    {
        public ChunkEdit First, Second;

        public static byte OpId => 212;
        public readonly long EncodedBytesMax => 0;

        public readonly bool Run(ref RecordEdit edit) => First.Run(ref edit) && Second.Run(ref edit);

        public readonly int Encode(Span<byte> to) => 0;

        public readonly bool TryDecode(ReadOnlySpan<byte> from) => false;
    }

    private struct ManyChunks : IEdit
    {
        public ChunkEdit[] Edits;
        public Action<int> Before;

        public static byte OpId => 213;
        public readonly long EncodedBytesMax => 0;

        public readonly bool Run(ref RecordEdit edit)
        {
            for (int i = 0; i < Edits.Length; i++)
            {
                Before(i);
                Edits[i].Run(ref edit);
            }

            return true;
        }

        public readonly int Encode(Span<byte> to) => 0;

        public readonly bool TryDecode(ReadOnlySpan<byte> from) => false;
    }
}
