using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>
/// Puts the records of a snapshot together to keys. A record without chunks is a key at once. Chunks and their roots come in any order,
/// so they are gathered in a store of their own until their partition has been handed over as a whole; with
/// <see cref="SnapshotOptions.PartitionsAtOnce"/> 1 that is the collections of one partition, and what writers changed in others.
/// </summary>
public sealed unsafe class SnapshotKeys : IPartitionSink, IDisposable
{
    private readonly StoreSnapshot _snapshot;
    private readonly ISnapshotKeySink _sink;
    private readonly Store _store;
    private readonly StoreSession _session;
    private readonly Dictionary<int, List<Root>> _waiting = [];

    /// <summary>Gathers up to so many bytes; 0 for as many as the store itself may have.</summary>
    public SnapshotKeys(StoreSnapshot snapshot, long bytesMax, ISnapshotKeySink sink)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        (_snapshot, _sink) = (snapshot, sink);
        _store = new Store(new StoreSettings
        {
            MemoryLimitBytes = bytesMax > 0 ? bytesMax : snapshot.MemoryLimitBytes,
            Partitions = 1,
            BackgroundMovers = false,
            HugePages = false,
        });
        _session = _store.OpenSession(); // its clock stands at 0: nothing expires
    }

    /// <inheritdoc/>
    public void Write(ReadOnlySpan<byte> block, int records)
    {
        fixed (byte* start = block)
        {
            byte* end = start + block.Length;
            for (byte* next = start; next < end && SnapshotRecord.TryRead(next, end, out LoadRecord record); next += record.Bytes)
                Take(ref record);
        }
    }

    /// <inheritdoc/>
    public void PartitionDone(int partition)
    {
        if (!_waiting.Remove(partition, out List<Root>? roots))
            return;
        foreach (Root root in roots)
        {
            fixed (byte* key = root.Key)
                HandOver(_store.Key(key, root.KeyBytes, _store.Namespaces.Id(root.Database)), root.Database, root.ExpireAtMs);
        }
        while (_store.StepMovers(0))
        {
            // chunks of what was handed over go
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _session.Dispose();
        _store.Dispose();
    }

    private void Take(ref LoadRecord record)
    {
        KeyRef key = SnapshotLoader.KeyOf(_store, record, _store.Namespaces.Id(record.Database));
        if (_session.Modify(key, ref record) != Outcome.Done)
            throw new InsufficientMemoryException("collections that are not complete yet take more memory than is allowed");
        if (record.Kind == RecordKind.Chunk)
            return;
        if (record.Owner == 0)
        {
            HandOver(key, record.Database, record.ExpireAtMs);
            return;
        }
        int partition = _snapshot.PartitionOf(record.Key, record.KeyBytes, record.Database);
        ref List<Root>? roots = ref CollectionsMarshal.GetValueRefOrAddDefault(_waiting, partition, out _);
        byte[] bytes = new byte[record.KeyBytes + SnapshotLoader.SlackBytes];
        new ReadOnlySpan<byte>(record.Key, record.KeyBytes).CopyTo(bytes);
        (roots ??= []).Add(new Root(bytes, record.KeyBytes, record.Database, record.ExpireAtMs));
    }

    private void HandOver(in KeyRef key, int database, long expireAtMs)
    {
        _sink.Take(_session, key, database, expireAtMs);
        DeleteKey delete = default;
        _session.Modify(key, ref delete);
    }

    private readonly record struct Root(byte[] Key, int KeyBytes, int Database, long ExpireAtMs);
}
