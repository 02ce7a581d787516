using NUnit.Framework;
using Tsavorite.Test.Snapshots;

namespace Tsavorite.Test;

/// <summary>The log is replaced at the very moment at which a step on the whole store begins: as a server becomes a primary or a replica.</summary>
internal sealed class LogSwitchTests
{
    private const int Partitions = 2;

    [Test]
    public void U6_a_step_ends_with_the_log_it_began_with([Values] bool ordered, [Values] bool toNone)
    {
        var first = new SwitchedLog();
        SwitchedLog? second = toNone ? null : new SwitchedLog();
        using Bench bench = new(Bench.Tiny() with { Log = first, Partitions = Partitions });
        first.AtHold = () => bench.Store.SetLog(second);
        if (ordered)
            bench.Session.LockAll();
        else
            bench.Session.LockOpen();
        bench.Set("k", "v");
        bench.Session.Unlock();
        Assert.That((first.Depth, first.Entries), Is.EqualTo((0, 0)));
        Assert.That((second?.Depth, second?.Entries), Is.EqualTo(toNone ? ((int?)null, (int?)null) : (0, 1)));
    }

    [Test]
    public void U6_what_concerns_the_whole_store_is_written_to_the_log_that_is_in_force()
    {
        SwitchedLog first = new(), second = new();
        using Bench bench = new(Bench.Tiny() with { Log = first, Partitions = Partitions });
        first.AtHold = () => bench.Store.SetLog(second);
        bench.Store.Namespaces.FlushAll(wait: true);
        Assert.That((first.Depth, first.Controls), Is.EqualTo((0, 0)));
        Assert.That((second.Depth, second.Controls), Is.EqualTo((0, 1)));
    }

    /// <summary>Counts what it is told, and lets something happen when it is about to be held.</summary>
    private sealed class SwitchedLog : IWriteLog
    {
        private readonly BatchLog _log = new(Partitions);

        public Action? AtHold { get; set; }
        public int Depth { get; private set; }
        public int Entries { get; private set; }
        public int Controls { get; private set; }
        public ulong Batch => _log.Batch;

        public Span<byte> Reserve(int partition, ulong batch, in KeyRef key, int bytesMax) => _log.Reserve(partition, batch, key, bytesMax);

        public void Append(int partition, ulong batch, byte opId, int database, in KeyRef key, int argumentBytes)
        {
            Entries++;
            _log.Append(partition, batch, opId, database, key, argumentBytes);
        }

        public void Hold()
        {
            (Action? act, AtHold) = (AtHold, null);
            act?.Invoke();
            _log.Hold();
            Depth++;
        }

        public ulong Close() => _log.Close();

        public void Control(byte opId, ReadOnlySpan<byte> arguments)
        {
            Controls++;
            _log.Control(opId, arguments);
        }

        public ulong CloseOrdered() => _log.CloseOrdered();

        public void Release()
        {
            Depth--;
            _log.Release();
        }
    }
}
