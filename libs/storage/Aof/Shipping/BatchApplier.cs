using Garnet.Aof.Format;
using Garnet.Aof.Reading;
using Garnet.Aof.Recovery;
using Garnet.Common;
using Garnet.Common.Faults;
using Tsavorite;

namespace Garnet.Aof.Shipping;

/// <summary>
/// Applies received batches to a replica's store, by the same workers that replay a log at a start, each of which owns lanes.
/// Steppable: <see cref="Turn"/> applies what is there; a thread that calls it is the owner's business.
/// log.A1: batches are applied whole and in order; nothing of a batch is applied before all of it has come.
/// log.A2: a key is announced in the sketch before it is changed, and the number is published when every worker is through.
/// log.A3: an entry that cannot be applied leaves the store torn: nothing is published any more, and the owner fills it anew.
/// </summary>
public sealed unsafe class BatchApplier : IDisposable
{
    private const long GroupBytesMax = 256 << 10;
    private readonly Lock _gate = new(), _turn = new();
    private readonly Queue<BatchBytes> _ready = new();
    private readonly Store _store;
    private readonly ReplayWorkers _workers;
    private readonly AppliedState _state;
    private long _waitingBytes;

    /// <summary>
    /// An applier for what follows <paramref name="start"/>, a batch that was closed at <paramref name="sealedUnixUs"/> (0 = not known);
    /// <paramref name="threads"/> workers, 0 = whoever turns it.
    /// </summary>
    public BatchApplier(Store store, ReplayTable table, int threads, AppliedState state, LogPosition start, long sealedUnixUs = 0)
    {
        ArgumentNullException.ThrowIfNull(state);
        ArgumentNullException.ThrowIfNull(start);
        _store = store;
        _state = state;
        _workers = new ReplayWorkers(store, table, threads, state.Sketch);
        state.Begin(start.Term, start.Batch, sealedUnixUs);
    }

    /// <summary>Bytes of batches that wait.</summary>
    public long WaitingBytes => Volatile.Read(ref _waitingBytes);

    /// <summary>Entries applied.</summary>
    public long Entries { get; private set; }

    /// <summary>Why the store is torn; null if it is not (log.A3).</summary>
    public string? Failure { get; private set; }

    /// <summary>Takes a batch over from its holder.</summary>
    public void Add(BatchBytes batch)
    {
        ArgumentNullException.ThrowIfNull(batch);
        lock (_gate) _ready.Enqueue(batch);
        Interlocked.Add(ref _waitingBytes, batch.Bytes);
    }

    /// <summary>Applies a group of what is there and publishes its last number; false if nothing is there or the store is torn.</summary>
    public bool Turn()
    {
        lock (_turn) return TurnLocked();
    }

    /// <summary>Runs a step between two batches: the store stands at the batch and term given to it.</summary>
    public T AtBoundary<T>(Func<uint, ulong, T> step)
    {
        ArgumentNullException.ThrowIfNull(step);
        lock (_turn) return step(_state.Term, _state.Number);
    }

    private bool TurnLocked()
    {
        if (Failure != null || !TryPeek(out BatchBytes? batch))
            return false;
        try
        {
            _state.BeginChange();
            BatchBytes last = batch.Kind == BatchKind.Data ? ApplyGroup() : ApplyAlone(batch);
            _state.Publish(last.Term, last.Batch, (long)last.SealedUnixUs); // log.A2
            _state.EndChange();
            last.Release();
            return true;
        }
        catch (GarnetException e)
        {
            Failure = e.Message; // log.A3
            return false;
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _workers.Dispose();
        lock (_gate)
        {
            while (_ready.TryDequeue(out BatchBytes? batch)) batch.Release();
        }
    }

    // What concerns the whole store, or stands in an order over lanes.
    private BatchBytes ApplyAlone(BatchBytes batch)
    {
        _state.AnnounceControl(batch.Batch);
        ReplayBlock block = _workers.Open();
        AddPart(block, batch, 0);
        if (batch.Kind == BatchKind.Control)
            EntryReplayer.ApplyControl(_store, block);
        else
            _workers.ApplyHere(block);
        block.Clear();
        return Take();
    }

    // The batches that wait, up to a budget: readers of what they touch wait for the whole group. Of one term: in another a key's lane may be another.
    private BatchBytes ApplyGroup()
    {
        BatchBytes? last = null;
        ReplayBlock block = _workers.Open();
        for (long bytes = 0; bytes < GroupBytesMax && TryPeek(out BatchBytes? batch) && IsOfGroup(batch, last);)
        {
            for (int part = 0; part < batch.Parts; part++) AddPart(block, batch, part);
            bytes += batch.Bytes;
            Entries += batch.Entries;
            last?.Release();
            last = Take();
        }
        _workers.Drain();
        Check.That(last != null, "log.A1 a group has a batch");
        return last;
    }

    private static bool IsOfGroup(BatchBytes batch, BatchBytes? last) =>
        batch.Kind == BatchKind.Data && (last is null || last.Term == batch.Term);

    private static void AddPart(ReplayBlock block, BatchBytes batch, int part)
    {
        ReadOnlySpan<byte> bytes = batch.Part(part);
        HeaderState state = BatchHeader.TryRead(bytes, out BatchHeader header, out _);
        Check.That(state == HeaderState.Whole, "log.A1 what is applied has been checked");
        block.Add(new LogPart { File = "the primary's stream", Header = header, Body = batch.PartAt(part) + BatchHeader.Bytes });
    }

    private bool TryPeek([System.Diagnostics.CodeAnalysis.NotNullWhen(true)] out BatchBytes? batch)
    {
        lock (_gate) return _ready.TryPeek(out batch);
    }

    private BatchBytes Take()
    {
        BatchBytes batch;
        lock (_gate) batch = _ready.Dequeue();
        Interlocked.Add(ref _waitingBytes, -batch.Bytes);
        return batch;
    }
}
