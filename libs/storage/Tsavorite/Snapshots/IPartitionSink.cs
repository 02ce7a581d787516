namespace Tsavorite;

/// <summary>A sink that wants to know when it has all of a partition.</summary>
public interface IPartitionSink : ISnapshotSink
{
    /// <summary>No record of the partition is to come any more.</summary>
    void PartitionDone(int partition);
}
