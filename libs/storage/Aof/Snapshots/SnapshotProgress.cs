namespace Garnet.Aof.Snapshots;

/// <summary>How far a snapshot is being written, checked or loaded; read by any thread, exact at the end.</summary>
public sealed class SnapshotProgress
{
    private long _records, _bytes, _totalBytes, _bytesPerSecond;
    private int _partitionsDone, _partitionsTotal;

    /// <summary>Records so far.</summary>
    public long Records => Volatile.Read(ref _records);

    /// <summary>Bytes of records so far.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>Bytes of the file, when it is read; 0 when it is written: nobody knows before.</summary>
    public long TotalBytes => Volatile.Read(ref _totalBytes);

    /// <summary>Bytes of records per second since the start, when it is written.</summary>
    public long BytesPerSecond => Volatile.Read(ref _bytesPerSecond);

    /// <summary>Partitions walked to the end, when it is written.</summary>
    public int PartitionsDone => Volatile.Read(ref _partitionsDone);

    /// <summary>Partitions to walk, when it is written.</summary>
    public int PartitionsTotal => Volatile.Read(ref _partitionsTotal);

    internal void Begin(long totalBytes)
    {
        Volatile.Write(ref _records, 0);
        Volatile.Write(ref _bytes, 0);
        Volatile.Write(ref _totalBytes, totalBytes);
    }

    internal void Add(long records, long bytes)
    {
        Interlocked.Add(ref _records, records);
        Interlocked.Add(ref _bytes, bytes);
    }

    internal void Walked(in Tsavorite.SnapshotFigures figures, long elapsedUs)
    {
        Volatile.Write(ref _records, figures.Records);
        Volatile.Write(ref _bytes, figures.Bytes);
        Volatile.Write(ref _partitionsDone, figures.PartitionsDone);
        Volatile.Write(ref _partitionsTotal, figures.PartitionsTotal);
        Volatile.Write(ref _bytesPerSecond, elapsedUs > 0 ? (long)(figures.Bytes * 1e6 / elapsedUs) : 0);
    }
}
