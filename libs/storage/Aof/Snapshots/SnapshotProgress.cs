using System.Globalization;

namespace Garnet.Aof.Snapshots;

/// <summary>How far a snapshot is being written; read by any thread, exact at the end.</summary>
public sealed class SnapshotProgress
{
    private long _records, _recordsTotal, _bytes, _savedBytesMax, _elapsedUs, _bytesPerSecond;
    private int _partitionsDone, _partitionsTotal;

    /// <summary>Records so far.</summary>
    public long Records => Volatile.Read(ref _records);

    /// <summary>Records there were at the cut.</summary>
    public long RecordsTotal => Volatile.Read(ref _recordsTotal);

    /// <summary>Bytes of records so far.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>The most bytes of memory so far that held what writers had changed since the cut, as it was then.</summary>
    public long SavedBytesMax => Volatile.Read(ref _savedBytesMax);

    /// <summary>Bytes of records per second since the start.</summary>
    public long BytesPerSecond => Volatile.Read(ref _bytesPerSecond);

    /// <summary>Partitions walked to the end.</summary>
    public int PartitionsDone => Volatile.Read(ref _partitionsDone);

    /// <summary>Partitions to walk.</summary>
    public int PartitionsTotal => Volatile.Read(ref _partitionsTotal);

    /// <summary>Estimated milliseconds until all partitions are walked, from how long those done took; -1 if none is.</summary>
    public long LeftMs =>
        PartitionsDone > 0 ? Volatile.Read(ref _elapsedUs) / 1000 * (PartitionsTotal - PartitionsDone) / PartitionsDone : -1;

    /// <summary>One line for people.</summary>
    public string Format()
    {
        string end = LeftMs >= 0 ? string.Create(CultureInfo.InvariantCulture, $", about {(LeftMs + 999) / 1000} s left") : "";
        return string.Create(CultureInfo.InvariantCulture,
            $"writing the snapshot: {Records:N0} records, {Bytes / 1e6:F1} MB, {BytesPerSecond / 1e6:F1} MB/s, {PartitionsDone} of " +
            $"{PartitionsTotal} partitions{end}");
    }

    internal void Walked(in Tsavorite.SnapshotFigures figures, long elapsedUs)
    {
        Volatile.Write(ref _elapsedUs, elapsedUs);
        Volatile.Write(ref _records, figures.Records);
        Volatile.Write(ref _recordsTotal, figures.RecordsAtCut);
        Volatile.Write(ref _savedBytesMax, Math.Max(_savedBytesMax, figures.BufferedBytes));
        Volatile.Write(ref _bytes, figures.Bytes);
        Volatile.Write(ref _partitionsDone, figures.PartitionsDone);
        Volatile.Write(ref _partitionsTotal, figures.PartitionsTotal);
        Volatile.Write(ref _bytesPerSecond, elapsedUs > 0 ? (long)(figures.Bytes * 1e6 / elapsedUs) : 0);
    }
}
