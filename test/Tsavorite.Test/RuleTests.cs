using System.Text;
using NUnit.Framework;

namespace Tsavorite.Test;

/// <summary>One situation and one result each; names carry the rule where one applies.</summary>
internal sealed unsafe class RuleTests
{
    [Test]
    public void A_value_set_is_read_back_and_a_deleted_one_is_gone()
    {
        using Bench bench = new();
        Assert.That(bench.Set("a", "one"), Is.EqualTo(Outcome.Done));
        Assert.That(bench.Text("a"), Is.EqualTo("one"));
        Assert.That(bench.Delete("a"), Is.EqualTo(Outcome.Done));
        Assert.That(bench.Get("a"), Is.Null);
        Assert.That(bench.Delete("a"), Is.EqualTo(Outcome.Unchanged));
    }

    [Test]
    public void A_refused_put_leaves_the_record_alone()
    {
        using Bench bench = new();
        bench.Set("a", Encoding.UTF8.GetBytes("one"), expireAtMs: bench.NowMs + 5, etag: 7);
        Refuse refuse = default;
        Assert.That(bench.Session.Modify(bench.Key("a"), ref refuse), Is.EqualTo(Outcome.Unchanged));
        Assert.That(bench.Text("a"), Is.EqualTo("one"));
        Assert.That((bench.Last.ExpireAtMs, bench.Last.ETag), Is.EqualTo((bench.NowMs + 5, 7UL)));
    }

    [Test]
    public void Keys_of_every_length_and_of_no_length_are_told_apart()
    {
        using Bench bench = new();
        int[] lengths = [.. Enumerable.Range(0, 70), 255, 256, 1000, 4096, Store.KeyBytesMax];
        foreach (int length in lengths) bench.Set(new string('k', length), BitConverter.GetBytes(length));
        foreach (int length in lengths)
            Assert.That(bench.Get(new string('k', length)), Is.EqualTo(BitConverter.GetBytes(length)), $"length {length}");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void A_value_too_large_is_refused_and_nothing_changes()
    {
        using Bench bench = new();
        bench.Set("a", "one");
        Claim claim = new() { Bytes = Store.ValueBytesMax + 1 };
        Assert.That(bench.Session.Modify(bench.Key("a"), ref claim), Is.EqualTo(Outcome.TooLarge));
        Assert.That(bench.Session.Modify(bench.Key("b"), ref claim), Is.EqualTo(Outcome.TooLarge));
        claim.Bytes = -1;
        Assert.That(bench.Session.Modify(bench.Key("a"), ref claim), Is.EqualTo(Outcome.TooLarge));
        Assert.That(bench.Text("a"), Is.EqualTo("one"));
        Assert.That(bench.Store.Count(0), Is.EqualTo(1));
    }

    [Test]
    public void A_write_beyond_the_limit_is_refused_under_noeviction_and_deletes_make_room()
    {
        using Bench bench = new(Bench.Tiny() with { MemoryLimitBytes = 2 << 20 });
        int set = 0;
        byte[] value = new byte[300];
        while (bench.Session.Room.Ensure(400))
        {
            Assert.That(bench.Set("k" + set, value), Is.EqualTo(Outcome.Done));
            set++;
            Assert.That(set, Is.LessThan(10_000));
        }
        Assert.That(bench.Store.Tight, Is.True);
        Assert.That(bench.Store.Count(0), Is.EqualTo(set), "nothing was evicted");
        Assert.That(bench.Store.Figures().UsedBytes, Is.LessThanOrEqualTo(2 << 20));
        Assert.That(set, Is.GreaterThan(5000));
        for (int i = 0; i < set; i += 2) bench.Delete("k" + i);
        Assert.That(bench.Session.Room.Ensure(200_000), Is.True, "cleaning makes room of what was deleted");
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void Without_EnsureRoom_a_write_far_beyond_the_limit_is_out_of_memory_and_changes_nothing()
    {
        using Bench bench = new(Bench.Tiny() with { MemoryLimitBytes = 2 << 20 });
        bench.Set("a", "one");
        Assert.That(bench.Set("a", new byte[4 << 20]), Is.EqualTo(Outcome.OutOfMemory));
        Assert.That(bench.Set("b", new byte[4 << 20]), Is.EqualTo(Outcome.OutOfMemory));
        Assert.That(bench.Text("a"), Is.EqualTo("one"));
        Assert.That(bench.Get("b"), Is.Null);
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void U6_Locked_keys_are_read_and_changed_without_a_second_lock()
    {
        using Bench bench = new(Bench.Tiny() with { Partitions = 16 });
        byte* bytes = stackalloc byte[256];
        KeyRef[] keys = new KeyRef[4];
        for (int i = 0; i < keys.Length; i++)
        {
            bytes[i * 32] = (byte)('a' + i);
            keys[i] = bench.Store.Key(bytes + i * 32, 1, 0);
        }
        bench.Session.Lock(keys);
        foreach (KeyRef key in keys)
        {
            SetValue set = new() { Value = [1] };
            Assert.That(bench.Session.Modify(key, ref set), Is.EqualTo(Outcome.Done));
            CopyOut copy = new(new byte[16]);
            Assert.That(bench.Session.Read(key, ref copy), Is.EqualTo(Outcome.Done));
        }
        bench.Session.Unlock();
        using StoreSession other = bench.Store.OpenSession();
        foreach (KeyRef key in keys)
        {
            DeleteKey delete = default;
            Assert.That(other.Modify(key, ref delete), Is.EqualTo(Outcome.Done));
        }
    }

    [Test]
    public void U7_Every_logical_change_passes_the_log_and_replay_gives_the_same_store()
    {
        Journal journal = new();
        using Bench bench = new(Bench.Tiny() with { Log = journal });
        journal.Store = bench.Store;
        Random random = new(11);
        for (int i = 0; i < 20_000; i++)
        {
            string key = "k" + random.Next(300);
            byte[] bytes = new byte[random.Next(60)];
            random.NextBytes(bytes);
            switch (random.Next(5))
            {
                case 0: bench.Set(key, bytes, expireAtMs: random.Next(2) * (bench.NowMs + 500)); break;
                case 1: bench.Append(key, bytes); break;
                case 2: bench.Fields(key, random.Next(2) * (bench.NowMs + 700), (ulong)random.Next(3)); break;
                case 3: bench.Delete(key); break;
                default: bench.NowMs += 5; if (i % 50 == 0) bench.Store.StepMovers(bench.NowMs); break;
            }
        }
        bench.StepUntilIdle();
        ReplayTable table = new();
        table.Add<SetValue>();
        table.Add<AppendBytes>();
        table.Add<SetFields>();
        using Bench copy = new();
        copy.NowMs = 0;
        foreach ((byte opId, string key, byte[] arguments) in journal.Entries)
            Assert.That(table.Apply(copy.Session, opId, copy.Key(key), arguments), Is.True);
        copy.NowMs = bench.NowMs;
        Assert.That(copy.Store.Count(0), Is.EqualTo(bench.Store.Count(0)));
        for (int i = 0; i < 300; i++)
        {
            Assert.That(copy.Get("k" + i), Is.EqualTo(bench.Get("k" + i)));
            Assert.That((copy.Last.ExpireAtMs, copy.Last.ETag), Is.EqualTo((bench.Last.ExpireAtMs, bench.Last.ETag)));
        }
    }

    [Test]
    public void The_op_ids_equal_the_golden_list()
    {
        DirectoryInfo? folder = new(TestContext.CurrentContext.TestDirectory);
        while (folder != null && !File.Exists(Path.Combine(folder.FullName, "Garnet.sln"))) folder = folder.Parent;
        string[] lines = File.ReadAllLines(Path.Combine(folder!.FullName, "test", "golden", "op-ids.txt"));
        Assert.That(lines, Does.Contain($"{DeleteKey.OpId} {nameof(DeleteKey)}"));
        Assert.That(lines.Select(l => l.Split(' ')[0]).Distinct().Count(), Is.EqualTo(lines.Length), "a number is given once");
    }

    [Test]
    public void Observers_hear_writes_expiries_and_evictions()
    {
        using Bench bench = new();
        Listener listener = new();
        bench.Store.Observe(listener);
        bench.Set("a", Encoding.UTF8.GetBytes("1"), expireAtMs: bench.NowMs + 10);
        bench.Set("b", "2");
        bench.Set("b", "22");
        bench.NowMs += 20;
        bench.StepUntilIdle();
        bench.Store.Namespaces.Swap(0, 1);
        bench.Store.Namespaces.Flush(1, wait: true);
        bench.Store.Observe(null);
        bench.Set("c", "3");
        Assert.That(listener.Heard, Is.EqualTo(new[] { "a Created", "b Created", "b Written", "a Expired", "swap 0 1", "flush 1" }));
    }

    [Test]
    public void Expired_keys_vanish_without_access_and_in_extents_too()
    {
        using Bench bench = new();
        for (int i = 0; i < 2000; i++) bench.Set("k" + i, new byte[i % 100 == 0 ? 3000 : 20], expireAtMs: bench.NowMs + 1000 + i % 500);
        bench.Set("stays", "x");
        bench.NowMs += 999;
        bench.StepUntilIdle();
        Assert.That(bench.Store.Count(0), Is.EqualTo(2001));
        bench.NowMs += 501;
        bench.StepUntilIdle();
        Assert.That(bench.Store.Count(0), Is.EqualTo(1));
        Assert.That(bench.Store.Figures().ExpiredKeys, Is.EqualTo(2000));
        Assert.That(StoreCheck.Run(bench.Store), Is.Empty);
    }

    [Test]
    public void Reads_and_changes_allocate_nothing()
    {
        using Bench bench = new();
        KeyRef key = bench.Key("a");
        SetValue set = new() { Value = new byte[40] };
        CopyOut copy = new(new byte[100]);
        long least = long.MaxValue;
        // The runtime may allocate on the way to optimised code; the store may not in any round after that.
        for (int round = 0; round < 5; round++)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            for (int i = 0; i < 10_000; i++)
            {
                bench.Session.Modify(key, ref set);
                bench.Session.Read(key, ref copy);
            }
            least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
        }
        Assert.That(least, Is.Zero);
    }

    private struct Claim : IModify
    {
        public int Bytes;
        public static byte OpId => 220;
        public readonly long EncodedBytesMax => 0;

        public readonly Verdict Plan(in RecordView existing, ref NewRecord next)
        {
            next.ValueBytes = Bytes;
            return Verdict.Put;
        }

        public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) => value.Clear();
        public readonly int Encode(Span<byte> to) => 0;
        public readonly bool TryDecode(ReadOnlySpan<byte> from) => true;
    }

    private sealed class Journal : IWriteLog
    {
        private readonly byte[] _room = new byte[1 << 16];
        public Store? Store { get; set; }
        public List<(byte, string, byte[])> Entries { get; } = [];

        public ulong Batch { get; private set; } = 1;

        public Span<byte> Reserve(int partition, ulong batch, in KeyRef key, int bytesMax) => _room.AsSpan(0, bytesMax);

        public void Append(int partition, ulong batch, byte opId, int database, in KeyRef key, int argumentBytes)
        {
            Assert.That(Store!.PartitionOf(key), Is.EqualTo(partition));
            Assert.That(batch, Is.EqualTo(Batch));
            Entries.Add((opId, Encoding.UTF8.GetString(key.Span), _room[..argumentBytes]));
        }

        public void Hold()
        {
        }

        public ulong Close() => Batch++;

        public ulong CloseOrdered() => Batch++;

        public void Control(byte opId, ReadOnlySpan<byte> arguments) => Entries.Add((opId, "", arguments.ToArray()));

        public void Release()
        {
        }
    }

    private sealed class Listener : IKeyObserver
    {
        public List<string> Heard { get; } = [];
        public void OnChange(in KeyRef key, KeyChange change) => Heard.Add(Encoding.UTF8.GetString(key.Span) + " " + change);

        public void OnFlush(int database) => Heard.Add("flush " + database);

        public void OnSwap(int first, int second) => Heard.Add($"swap {first} {second}");
    }
}
