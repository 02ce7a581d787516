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

    private static ChunkEdit Edit(uint chunk, byte fill)
    {
        byte[] bytes = new byte[ChunkBytes];
        Array.Fill(bytes, fill);
        return new ChunkEdit { Number = chunk, Bytes = bytes };
    }

    private static void Write(Bench bench, uint chunk, byte fill)
    {
        ChunkEdit edit = Edit(chunk, fill);
        Assert.That(bench.Session.Edit(bench.Key("root"), ref edit), Is.EqualTo(Outcome.Done));
    }

    private static byte Read(Bench bench, uint chunk)
    {
        ChunkCopy copy = new() { Number = chunk };
        Assert.That(bench.Session.Examine(bench.Key("root"), ref copy), Is.EqualTo(Outcome.Done));
        Assert.That(copy.Bytes, Has.Length.EqualTo(ChunkBytes).And.All.EqualTo(copy.Bytes![0]));
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
}
