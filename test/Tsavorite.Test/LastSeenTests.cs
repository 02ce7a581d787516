using Garnet.Common.Test;
using NUnit.Framework;
using Tsavorite.Test.Snapshots;

namespace Tsavorite.Test;

/// <summary>Which batch of the log a session has looked at a change of (store.U19).</summary>
internal sealed class LastSeenTests
{
    private const int Seed = 19, Steps = 20_000, Keys = 40;

    private static StoreSettings Settings(IWriteLog log) => Bench.Tiny() with { Log = log, TellsBatches = true };

    [Test]
    public void U19_never_an_earlier_batch_is_told_than_that_of_the_last_change()
    {
        var random = new Random(Seed);
        var log = new BatchLog(2);
        using Bench bench = new(Settings(log));
        using StoreSession reader = bench.Store.OpenSession();
        reader.NowMs = bench.NowMs;
        ulong[] last = new ulong[Keys];
        int exact = 0;
        for (int step = 0; step < Steps; step++)
        {
            int key = random.Next(Keys);
            switch (random.Next(40))
            {
                case < 5:
                    log.Tick();
                    break;
                case < 10:
                    bench.Set($"k{key}", BitConverter.GetBytes(step), Database(bench));
                    last[key] = log.Batch;
                    break;
                case < 12 when bench.Delete($"k{key}", Database(bench)) == Outcome.Done:
                    last[key] = log.Batch;
                    break;
                case 12:
                    InStep(bench, key, static session => session.LockAll());
                    last[key] = log.Batch - 1; // the step was a batch of its own
                    break;
                case 13:
                    InStep(bench, key, static session => session.LockOpen());
                    last[key] = log.Batch;
                    break;
                case 14 when random.Next(20) == 0:
                    bench.Store.Namespaces.Flush(0, wait: true);
                    Array.Fill(last, log.Batch - 1);
                    break;
                default:
                    (ulong told, ulong wanted) = (Look(bench, reader, key, random.Next(5)), last[key]);
                    Assert.That(told, Is.GreaterThanOrEqualTo(wanted).And.LessThanOrEqualTo(log.Batch), $"k{key}, step {step}");
                    exact += told == wanted ? 1 : 0;
                    break;
            }
        }
        Assert.That(exact, Is.GreaterThan(Steps / 4), "and mostly that very one");
        bench.Store.Namespaces.Flush(0, wait: true);
    }

    [Test]
    public void U19_who_sees_a_change_that_the_log_has_not_been_told_of_waits_for_that()
    {
        using var log = new SlowLog(2);
        using Bench bench = new(Settings(log)), other = new();
        bench.Set("k", "old");
        log.Waits = true;
        var writer = new Thread(() => bench.Set("k", "new"));
        writer.Start();
        log.Reached.Await();
        string? seen = null;
        ulong told = 0;
        using var looked = new ManualResetEventSlim();
        var reader = new Thread(() =>
        {
            using StoreSession session = bench.Store.OpenSession();
            session.NowMs = other.NowMs;
            var look = new NotedLook(looked);
            session.Read(other.Key("k"), ref look); // the same key: the seeds are alike
            (seen, told) = (look.Text, session.LastSeen);
        });
        reader.Start();
        looked.Await(); // it has seen the change, of which the log knows nothing yet
        log.Go.Set();
        writer.Await();
        reader.Await();
        Assert.That((seen, told), Is.EqualTo(("new", SlowLog.LateBatch)));
    }

    [Test]
    public void Nothing_is_told_unless_it_is_asked_for()
    {
        using Bench bench = new(Bench.Tiny() with { Log = new BatchLog(2) });
        bench.Set("k", "v");
        bench.Get("k");
        bench.Session.SeeAny();
        Assert.That(bench.Session.LastSeen, Is.Zero);
        bench.Delete("k");
    }

    // A flush gives it another name.
    private static uint Database(Bench bench) => bench.Store.Namespaces.Id(0);

    private static void InStep(Bench bench, int key, Action<StoreSession> begin)
    {
        begin(bench.Session);
        bench.Set($"k{key}", [1, 2, 3], Database(bench));
        bench.Session.Unlock();
    }

    // By whatever way the store can be looked at.
    private static ulong Look(Bench bench, StoreSession reader, int key, int way)
    {
        reader.LastSeen = 0;
        uint database = Database(bench);
        KeyRef k = bench.Key($"k{key}", database);
        var copy = new CopyOut(new byte[64]);
        switch (way)
        {
            case 0:
                reader.Read(in k, ref copy);
                break;
            case 1:
                reader.Lock([k]);
                reader.Read(in k, ref copy);
                reader.Unlock();
                break;
            case 2:
                var nothing = default(Refusal);
                reader.Modify(in k, ref nothing);
                break;
            case 3:
                reader.Scan(database, 0, 10, ref copy);
                break;
            default:
                reader.Count(database);
                break;
        }
        return reader.LastSeen;
    }

    /// <summary>Looks and decides to change nothing.</summary>
    private struct Refusal : IModify
    {
        public static byte OpId => 209;
        public readonly long EncodedBytesMax => 0;
        public readonly Verdict Plan(in RecordView existing, ref NewRecord next) => Verdict.Keep;
        public readonly void Write(in RecordView existing, Span<byte> value, bool inPlace) => throw new InvalidOperationException();
        public readonly int Encode(Span<byte> to) => 0;
        public bool TryDecode(ReadOnlySpan<byte> from) => true;
    }

    private struct NotedLook(ManualResetEventSlim looked) : IRead
    {
        public string? Text;

        public unsafe void Look(in RecordView record)
        {
            Text = System.Text.Encoding.ASCII.GetString(record.Value, record.ValueBytes);
            looked.Set();
        }
    }

    /// <summary>A log that is told of a change late, when another batch is open.</summary>
    private sealed class SlowLog(int partitions) : IWriteLog, IDisposable
    {
        public const ulong LateBatch = 8;
        private readonly BatchLog _log = new(partitions);

        public bool Waits { get; set; }
        public ManualResetEventSlim Reached { get; } = new();
        public ManualResetEventSlim Go { get; } = new();

        public ulong Batch
        {
            get
            {
                if (!Waits) return 7;
                Reached.Set();
                Go.Await();
                return LateBatch;
            }
        }

        public Span<byte> Reserve(int partition, ulong batch, in KeyRef key, int bytesMax) => _log.Reserve(partition, batch, key, bytesMax);
        public void Append(int partition, ulong batch, byte opId, int database, in KeyRef key, int argumentBytes) => _log.Append(partition, batch, opId, database, key, argumentBytes);
        public void Hold() => _log.Hold();
        public ulong Close() => _log.Close();
        public void Control(byte opId, ReadOnlySpan<byte> arguments) => _log.Control(opId, arguments);
        public ulong CloseOrdered() => _log.CloseOrdered();
        public void Release() => _log.Release();

        public void Dispose()
        {
            Reached.Dispose();
            Go.Dispose();
        }
    }
}
