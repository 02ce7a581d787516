namespace Tsavorite;

/// <summary>
/// The one hook through which every logical change leaves the store, called under the partition lock (rule U7), after
/// the decision and before the lock is released. Must not wait.
/// </summary>
public interface IWriteLog
{
    /// <summary>Room for an entry of <paramref name="bytesMax"/> argument bytes in the lane of <paramref name="partition"/>.</summary>
    Span<byte> Reserve(int partition, int bytesMax);

    /// <summary>
    /// Completes the entry begun by <see cref="Reserve"/>: operation <paramref name="opId"/> on
    /// <paramref name="key"/> with the first <paramref name="argumentBytes"/> bytes of the reserved room as arguments.
    /// </summary>
    void Append(int partition, byte opId, in KeyRef key, int argumentBytes);
}
