using Garnet.Common.Test;
using NUnit.Framework;

namespace Tsavorite.Test;

/// <summary>
/// Values that gather in memory of the store before their key has them. What a bench finds at its end says that no memory is lost.
/// </summary>
internal sealed unsafe class StagedValueTests
{
    private const int Bytes = 20_000; // more than a segment of a bench takes

    [Test]
    public void A_staged_value_is_the_record_where_it_lies([Values("", "short", "long", "as long")] string before, [Values(0, 2_000_000)] long expireAtMs)
    {
        using Bench bench = new();
        if (before.Length > 0)
            bench.Set("k", new byte[before switch { "short" => 10, "long" => 2 * Bytes, _ => Bytes }], expireAtMs: expireAtMs);
        using StagedValue staged = StagedValue.TryBegin(bench.Session, bench.Key("k"), Bytes)!;
        Fill(staged);
        var put = new PutThere { Value = staged.Bytes, Length = staged.Length, ExpireAtMs = expireAtMs };
        Assert.That(staged.Put(bench.Session, bench.Key("k"), ref put), Is.EqualTo(Outcome.Done));
        Assert.That((staged.IsTaken, put.Wrote == staged.Bytes), Is.EqualTo((true, true)));
        Assert.That(bench.Get("k"), Is.EqualTo(Pattern()));
        Assert.That(bench.Last.ExpireAtMs, Is.EqualTo(expireAtMs));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
        bench.Append("k", [1, 2, 3]);
        Assert.That(bench.Get("k"), Is.EqualTo((byte[])[.. Pattern(), 1, 2, 3]), "it is a record like any other");
        bench.Delete("k");
        Assert.That(bench.Get("k"), Is.Null);
    }

    [Test]
    public void A_value_that_is_to_lie_elsewhere_is_copied_and_one_that_is_not_put_is_given_back()
    {
        using Bench bench = new();
        using StagedValue staged = StagedValue.TryBegin(bench.Session, bench.Key("k"), Bytes)!;
        Fill(staged);
        var shorter = new PutThere { Value = staged.Bytes, Length = Bytes - 1 };
        staged.Put(bench.Session, bench.Key("k"), ref shorter);
        Assert.That((staged.IsTaken, bench.Get("k")!.Length), Is.EqualTo((false, Bytes - 1)));
        var kept = new PutThere { Value = staged.Bytes, Length = Bytes, Keeps = true };
        Assert.That(staged.Put(bench.Session, bench.Key("k"), ref kept), Is.EqualTo(Outcome.Unchanged));
        Assert.That((staged.IsTaken, bench.Get("k")!.Length), Is.EqualTo((false, Bytes - 1)));
        var other = new PutThere { Value = staged.Bytes, Length = Bytes };
        Assert.That(staged.Put(bench.Session, bench.Key("another"), ref other), Is.EqualTo(Outcome.Done));
        Assert.That((staged.IsTaken, bench.Get("another")!.AsSpan().SequenceEqual(Pattern())), Is.EqualTo((false, true)), "its key is longer");
        var plain = new PutThere { Value = staged.Bytes, Length = Bytes };
        Assert.That(bench.Session.Modify(bench.Key("k"), ref plain), Is.EqualTo(Outcome.Done));
        Assert.That(staged.IsTaken, Is.False, "only who says so");
        staged.Dispose();
        Assert.That(staged.Put(bench.Session, bench.Key("k"), ref plain), Is.EqualTo(Outcome.Done));
        Assert.That(staged.IsTaken, Is.False, "what was given back is nobody's");
    }

    [Test]
    public void What_lies_among_others_or_has_no_room_is_not_staged()
    {
        using Bench bench = new();
        Assert.That(StagedValue.TryBegin(bench.Session, bench.Key("k"), 100), Is.Null);
        Assert.That(StagedValue.TryBegin(bench.Session, bench.Key("k"), 80 << 20), Is.Null);
        long used = bench.Store.Figures().UsedBytes;
        StagedValue staged = StagedValue.TryBegin(bench.Session, bench.Key("k"), 1 << 20)!;
        Assert.That(bench.Store.Figures().UsedBytes, Is.GreaterThanOrEqualTo(used + (1 << 20)), "it counts");
        staged.Dispose();
        staged.Dispose();
    }

    [Test]
    public void What_is_staged_or_beside_the_store_is_accounted_for()
    {
        using Bench bench = new();
        using StagedValue taken = StagedValue.TryBegin(bench.Session, bench.Key("k"), Bytes)!;
        StagedValue given = StagedValue.TryBegin(bench.Session, bench.Key("k"), 3 * Bytes)!;
        Assert.That(bench.Store.TryTakeBeside(1234), Is.True);
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
        var put = new PutThere { Value = taken.Bytes, Length = Bytes };
        taken.Put(bench.Session, bench.Key("k"), ref put);
        Assert.That((taken.IsTaken, StoreCheck.Run(bench.Store).Count), Is.EqualTo((true, 0)));
        given.Dispose();
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
        using StagedValue again = StagedValue.TryBegin(bench.Session, bench.Key("k"), 3 * Bytes)!;
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty, "pages that were given back, and are used again");
        bench.Store.GiveBeside(1234);
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void A_check_beside_those_who_stage_finds_nothing()
    {
        using Bench bench = new();
        bool isOver = false;
        var stager = new Thread(() =>
        {
            using StoreSession session = bench.Store.OpenSession();
            for (int round = 0; !Volatile.Read(ref isOver); round++)
            {
                using StagedValue? staged = StagedValue.TryBegin(session, bench.Key("k"), Bytes + (round % 7 * 4096));
                if (bench.Store.TryTakeBeside(round))
                    bench.Store.GiveBeside(round);
            }
        });
        stager.Start();
        List<string> found = [];
        for (int round = 0; round < 200; round++)
            found.AddRange(StoreCheck.Run(bench.Store));
        Volatile.Write(ref isOver, true);
        stager.Await();
        Assert.That(found, Is.Empty);
    }

    private static byte[] Pattern() => [.. Enumerable.Range(0, Bytes).Select(static i => (byte)(i * 31 >> 3))];

    private static void Fill(StagedValue staged) => Pattern().CopyTo(new Span<byte>(staged.Bytes, staged.Length));

    internal struct PutThere : IModify
    {
        public byte* Value;
        public int Length;
        public long ExpireAtMs;
        public bool Keeps;
        public byte* Wrote;

        public static byte OpId => 208;
        public readonly long EncodedBytesMax => Length;

        public readonly Verdict Plan(in RecordView existing, ref NewRecord next)
        {
            (next.Kind, next.ValueBytes, next.ExpireAtMs, next.ETag) = (RecordKind.String, Length, ExpireAtMs, 0);
            return Keeps ? Verdict.Keep : Verdict.Put;
        }

        public void Write(in RecordView existing, Span<byte> value, bool inPlace)
        {
            Wrote = (byte*)System.Runtime.CompilerServices.Unsafe.AsPointer(ref value[0]);
            if (Wrote != Value)
                new ReadOnlySpan<byte>(Value, Length).CopyTo(value);
        }

        public readonly int Encode(Span<byte> to) => 0;

        public readonly bool TryDecode(ReadOnlySpan<byte> from) => false;
    }
}
