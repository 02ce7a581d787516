using NUnit.Framework;

namespace Tsavorite.Test;

/// <summary>Long values that somebody sends from where they lie (rule store.P1).</summary>
public sealed unsafe class PinnedValueTests
{
    private const int Bytes = 100_000;

    private static readonly byte[] s_old = Filled(1), s_new = Filled(2);

    [Test]
    public void Its_bytes_stay_whatever_becomes_of_the_key([Values] KeyFate fate)
    {
        using Bench bench = new();
        bench.Set("k", s_old);
        Assert.That(PinnedValue.TryTake(bench.Session, bench.Key("k"), out PinnedValue value), Is.True);
        Meet(bench, fate);
        for (int i = 0; i < 5; i++)
        {
            bench.Set("other" + i, s_new); // memory that is free is taken
            bench.NowMs += 1000;
            bench.StepUntilIdle(); // or given back
        }

        Assert.That(new ReadOnlySpan<byte>(value.Bytes, value.Length).SequenceEqual(s_old), Is.True);
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
        value.Release();
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void Its_memory_counts_until_the_last_pin_is_gone_and_is_used_again_then()
    {
        using Bench bench = new();
        bench.Set("k", s_old);
        long used = bench.Store.Figures().UsedBytes;
        PinnedValue.TryTake(bench.Session, bench.Key("k"), out PinnedValue first);
        PinnedValue.TryTake(bench.Session, bench.Key("k"), out PinnedValue second);
        bench.Delete("k");
        first.Release();
        bench.Set("other", s_new);
        Assert.That(bench.Store.Figures().UsedBytes, Is.GreaterThan(used + Bytes), "not in the memory that is still looked at");
        second.Release();
        long before = bench.Store.Figures().UsedBytes;
        bench.Set("third", s_new);
        Assert.That(bench.Store.Figures().UsedBytes, Is.EqualTo(before));
    }

    [Test]
    public void A_value_that_nobody_looks_at_any_more_is_overwritten_where_it_lies()
    {
        using Bench bench = new();
        bench.Set("k", s_old);
        PinnedValue.TryTake(bench.Session, bench.Key("k"), out PinnedValue value);
        value.Release();
        byte* bytes = value.Bytes;
        bench.Set("k", s_new);
        Assert.That(bytes[0], Is.EqualTo(2));
    }

    [Test]
    public void Short_ones_missing_ones_and_those_whose_time_has_come_are_not_pinned()
    {
        using Bench bench = new();
        bench.Set("short", new byte[100]);
        bench.Set("due", s_old, expireAtMs: bench.NowMs + 10);
        bench.Set("other kind", s_old, kind: RecordKind.Hash);
        bench.NowMs += 10;
        foreach (string key in (string[])["short", "missing", "due", "other kind"])
            Assert.That(PinnedValue.TryTake(bench.Session, bench.Key(key), out _), Is.False, key);
    }

    private static void Meet(Bench bench, KeyFate fate)
    {
        switch (fate)
        {
            case KeyFate.Overwritten:
                bench.Set("k", s_new);
                break;
            case KeyFate.Shortened:
                bench.Set("k", s_new[..(Bytes - 100)]);
                break;
            case KeyFate.Appended:
                bench.Append("k", [2]);
                break;
            case KeyFate.Removed:
                bench.Delete("k");
                break;
            case KeyFate.Retimed:
                bench.Fields("k", bench.NowMs + 100_000, 0);
                break;
            case KeyFate.Expired:
                bench.Fields("k", bench.NowMs + 1000, 0);
                bench.NowMs += 2000;
                bench.StepUntilIdle();
                break;
            default:
                bench.Store.Namespaces.Flush(0, wait: true);
                bench.StepUntilIdle();
                break;
        }
    }

    /// <summary>What becomes of a key while its value is pinned.</summary>
    public enum KeyFate
    {
        Overwritten,
        Shortened,
        Appended,
        Removed,
        Retimed,
        Expired,
        Flushed,
    }

    private static byte[] Filled(byte with)
    {
        byte[] bytes = new byte[Bytes];
        bytes.AsSpan().Fill(with);
        return bytes;
    }
}
