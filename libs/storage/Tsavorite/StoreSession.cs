namespace Tsavorite;

/// <summary>
/// One thread's way into the store. Not thread-safe. The owner sets <see cref="NowMs"/> once per round of work; all
/// expiry decisions of the session are taken by it.
/// </summary>
public sealed unsafe class StoreSession : IDisposable
{
    /// <summary>The session's clock, Unix milliseconds.</summary>
    public long NowMs;
    /// <summary>Reads that found a live record.</summary>
    public long Hits;
    /// <summary>Reads that did not.</summary>
    public long Misses;

    /// <summary>
    /// Shows the live record to <paramref name="read"/>: <see cref="Outcome.Done"/> or <see cref="Outcome.NotFound"/>.
    /// Counts a hit or miss and raises the record's access frequency unless <paramref name="quiet"/>.
    /// </summary>
    public Outcome Read<T>(in KeyRef key, ref T read, bool quiet = false) where T : struct, IRead => throw new NotSupportedException();

    /// <summary>Runs the operation under the key's partition lock (or under <see cref="Lock"/>).</summary>
    public Outcome Modify<T>(in KeyRef key, ref T operation) where T : struct, IModify => throw new NotSupportedException();

    /// <summary>
    /// Takes the partition locks of all the keys, in ascending order; reads and changes of these keys until
    /// <see cref="Unlock"/> are one atomic step. No waiting, no other keys in between.
    /// </summary>
    public void Lock(ReadOnlySpan<KeyRef> keys) => throw new NotSupportedException();

    /// <summary>Releases what <see cref="Lock"/> took.</summary>
    public void Unlock() => throw new NotSupportedException();

    /// <summary>
    /// Makes room for about <paramref name="bytes"/> more, evicting by policy if need be (without locks held).
    /// False if the limit leaves no room: the caller refuses its write before it changes anything.
    /// </summary>
    public bool EnsureRoom(long bytes) => throw new NotSupportedException();

    /// <summary>
    /// Shows about <paramref name="count"/> records of the namespace from <paramref name="cursor"/> on and returns
    /// the next cursor, 0 at the end. Every key present during the whole iteration is shown at least once.
    /// </summary>
    public ulong Scan<T>(uint ns, ulong cursor, int count, ref T visitor) where T : struct, IRead => throw new NotSupportedException();

    /// <summary>Shows a random live record of the namespace; false if there is none.</summary>
    public bool RandomRecord<T>(uint ns, ref T read) where T : struct, IRead => throw new NotSupportedException();

    /// <inheritdoc/>
    public void Dispose() { }
}
