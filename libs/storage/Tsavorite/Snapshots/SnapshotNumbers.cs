using System.Diagnostics;

namespace Tsavorite;

/// <summary>
/// The snapshot that runs, at most one, and the numbers of those before. The stamps in the index (store.S5) are the low 8 bits of numbers
/// from the last whole snapshot's to the last one begun; a new number must differ from them all.
/// </summary>
internal sealed unsafe class SnapshotNumbers
{
    private const ulong Stamps = 256;
    private const int BucketsPerHold = 256;
    private readonly StoreCore _core;
    private readonly Lock _gate = new();
    private ulong _number, _whole;

    public SnapshotNumbers(StoreCore core) => _core = core;

    /// <summary>The snapshot that runs, or null. Set and cleared under every partition's lock as far as writers look.</summary>
    public volatile StoreSnapshot? Running;

    /// <summary>Stamps in the whole index written anew so far; for tests.</summary>
    public int Restamps { get; private set; }

    public StoreSnapshot Begin(SnapshotOptions options, ulong batchOfOthers)
    {
        lock (_gate)
        {
            if (Running != null)
                throw new InvalidOperationException("A snapshot is running already.");
            if (_number + 1 - _whole >= Stamps)
                Restamp();
            StoreSnapshot snapshot = new(_core, options);
            long began = Stopwatch.GetTimestamp();
            bool logs = false;
            ulong batch = _core.Exclusive(0, [], () =>
            {
                snapshot.Cut(++_number);
                Running = snapshot;
                logs = _core.Logging;
            });
            snapshot.Begun(logs ? batch : batchOfOthers, (long)Stopwatch.GetElapsedTime(began).TotalMicroseconds);
            return snapshot;
        }
    }

    /// <summary>The snapshot that runs is whole: every bucket has its stamp.</summary>
    public void Whole() => _whole = _number;

    /// <summary>The snapshot has left every partition.</summary>
    public void Leave(StoreSnapshot snapshot)
    {
        lock (_gate)
        {
            if (Running == snapshot)
                Running = null;
        }
    }

    // No snapshot runs. Splits copy stamps meanwhile, and a merge keeps those of the half that the cursor meets first.
    private void Restamp()
    {
        for (int i = 0; i < _core.Shape->PartitionCount; i++)
        {
            BucketCursor cursor = default;
            while (!cursor.AtEnd) Restamp(_core.Shape->Partitions + i, ref cursor);
        }
        _whole = _number;
        Restamps++;
    }

    private void Restamp(Partition* partition, ref BucketCursor cursor)
    {
        Partition.Enter(partition);
        for (int i = 0; i < BucketsPerHold && !cursor.AtEnd; i++)
        {
            Bucket.SetStamp(cursor.Current(_core, partition), (byte)_number);
            cursor.MoveOn(_core, partition);
        }
        Partition.Exit(partition);
    }
}
