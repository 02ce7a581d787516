using System.Runtime.InteropServices;

namespace Tsavorite.Test.Snapshots;

/// <summary>Keeps every entry of the write log with its batch, each partition's in order; batches end when told, or at a cut.</summary>
internal sealed class BatchLog(int partitions) : IWriteLog
{
    private const int CleanEvery = 1000, Whole = -1;
    private readonly List<Entry>[] _lanes = [.. Enumerable.Range(0, partitions).Select(static _ => new List<Entry>())];
    private readonly List<Entry> _controls = [];
    private readonly Lock _gate = new();
    [ThreadStatic] private static byte[]? t_room;
    private ulong _batch = 1;

    private sealed record Entry(ulong Batch, byte OpId, int Database, byte[] Key, byte[] Arguments);

    public ulong Batch => Volatile.Read(ref _batch);

    public Span<byte> Reserve(int partition, ulong batch, in KeyRef key, int bytesMax)
    {
        if ((t_room ??= []).Length < bytesMax) t_room = new byte[bytesMax * 2];
        return t_room.AsSpan(0, bytesMax);
    }

    // Under the partition's lock: one list needs no other.
    public void Append(int partition, ulong batch, byte opId, int database, in KeyRef key, int argumentBytes) =>
        _lanes[partition].Add(new Entry(batch, opId, database, key.Span.ToArray(), t_room.AsSpan(0, argumentBytes).ToArray()));

    public void Hold() => _gate.Enter();

    public ulong Close() => _batch++;

    public void Control(byte opId, ReadOnlySpan<byte> arguments) =>
        _controls.Add(new Entry(_batch++, opId, Whole, [], arguments.ToArray()));

    public ulong CloseOrdered() => _batch++;

    public void Release() => _gate.Exit();

    /// <summary>Ends a batch between any two writes.</summary>
    public void Tick()
    {
        lock (_gate) Volatile.Write(ref _batch, _batch + 1);
    }

    /// <summary>Runs all entries behind batch <paramref name="after"/> up to <paramref name="upTo"/> again.</summary>
    public unsafe void Replay(Store store, StoreSession session, ulong after, ulong upTo)
    {
        int runs = 0;
        ReplayTable table = new();
        table.Add<SetValue>();
        table.Add<AppendBytes>();
        table.Add<SetFields>();
        byte* key = (byte*)NativeMemory.Alloc(Store.KeyBytesMax + 64);
        foreach (Entry entry in _lanes.Append(_controls).SelectMany(static lane => lane).Where(e => e.Batch > after && e.Batch <= upTo)
            .OrderBy(static e => e.Batch))
        {
            entry.Key.CopyTo(new Span<byte>(key, entry.Key.Length));
            bool ran = entry.Database == Whole
                ? ReplayTable.ApplyControl(store, entry.OpId, entry.Arguments)
                : table.Apply(session, entry.OpId, store.Key(key, entry.Key.Length, store.Namespaces.Id(entry.Database)), entry.Arguments);
            if (++runs % CleanEvery == 0) store.StepMovers(0); // dead space goes, nothing expires
            if (!ran) throw new InvalidOperationException($"operation {entry.OpId} was refused");
        }
        NativeMemory.Free(key);
    }
}
