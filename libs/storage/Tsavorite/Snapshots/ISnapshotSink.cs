namespace Tsavorite;

/// <summary>Where the records of a <see cref="StoreSnapshot"/> go: a file, a connection, another store.</summary>
public interface ISnapshotSink
{
    /// <summary>
    /// Takes <paramref name="records"/> whole records, encoded one behind the other (website/docs/format/snapshot.md); the bytes
    /// are the caller's again after the call. No lock is held: the sink may wait, writers go on meanwhile. At most 64 KiB, more
    /// only for a single record that is larger. What it throws comes out of <see cref="StoreSnapshot.Step"/>; the snapshot
    /// is then of no use but to be disposed of.
    /// </summary>
    void Write(ReadOnlySpan<byte> block, int records);
}
