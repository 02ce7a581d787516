using System.Text;
using Tsavorite;

namespace Garnet.Server.Test.Transactions;

/// <summary>
/// A log whose batch is another one whenever it is asked for, but while somebody holds it: two entries are in one batch only if
/// who wrote them looked once, as store.U7 asks.
/// </summary>
internal sealed class BatchingLog : IWriteLog
{
    private readonly Lock _gate = new();
    private readonly List<(ulong Batch, string Key)> _entries = [];
    private readonly ThreadLocal<byte[]> _room = new(static () => new byte[4096]);
    private ulong _batch;
    private int _holder;

    public ulong Batch => _holder == Environment.CurrentManagedThreadId ? Volatile.Read(ref _batch) : Interlocked.Increment(ref _batch);

    /// <summary>The keys of the entries so far, by batch, in order; operations on the whole store have an empty key.</summary>
    internal List<List<string>> Batches()
    {
        lock (_gate) return [.. _entries.GroupBy(static entry => entry.Batch).OrderBy(static batch => batch.Key).Select(static batch => batch.Select(static entry => entry.Key).ToList())];
    }

    public Span<byte> Reserve(int partition, ulong batch, in KeyRef key, int bytesMax) => _room.Value.AsSpan(0, bytesMax);

    public void Append(int partition, ulong batch, byte opId, int database, in KeyRef key, int argumentBytes)
    {
        lock (_gate) _entries.Add((batch, Encoding.Latin1.GetString(key.Span)));
    }

    public void Hold()
    {
        _gate.Enter();
        _holder = Environment.CurrentManagedThreadId;
    }

    public ulong Close() => Interlocked.Increment(ref _batch) - 1;

    public void Control(byte opId, ReadOnlySpan<byte> arguments) => _entries.Add((Interlocked.Increment(ref _batch), ""));

    public ulong CloseOrdered() => Interlocked.Increment(ref _batch) - 1;

    public void Release()
    {
        _holder = 0;
        _gate.Exit();
    }
}
