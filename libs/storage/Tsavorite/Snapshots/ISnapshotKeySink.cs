namespace Tsavorite;

/// <summary>Takes a snapshot key by key, each with all its chunks (<see cref="SnapshotKeys"/>).</summary>
public interface ISnapshotKeySink
{
    /// <summary>
    /// A key of the cut, to be looked at through the session, which is of a store that nobody else uses; it is gone after the call.
    /// It may wait; what it throws comes out of <see cref="StoreSnapshot.Step"/>.
    /// </summary>
    void Take(StoreSession session, in KeyRef key, int database, long expireAtMs);
}
