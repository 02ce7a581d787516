namespace Tsavorite;

/// <summary>What <see cref="Store.VisitPartitions"/> calls, once for each partition.</summary>
public interface IPartitionVisitor
{
    /// <summary>Called under the partition's lock; must neither wait nor use the store (store.U5).</summary>
    void Visit(int partition);
}
