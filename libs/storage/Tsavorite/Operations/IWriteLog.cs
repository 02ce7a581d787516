namespace Tsavorite;

/// <summary>
/// The one hook through which every logical change leaves the store, called under the partition lock (rule store.U7), after
/// the decision and before the lock is released. Nothing here may wait, but <see cref="Hold"/>.
/// Changes are gathered into numbered batches. A write reads <see cref="Batch"/> once, while it holds the locks of all
/// its partitions, and names that number in all its entries, so that they are in one batch; whoever ends a batch must
/// visit every partition's lock after raising the number and before taking the batch's entries.
/// </summary>
public interface IWriteLog
{
    /// <summary>Number of the batch that is open now.</summary>
    ulong Batch { get; }

    /// <summary>Bytes of an entry besides its key and arguments.</summary>
    const int EntryHeadBytes = 12;

    /// <summary>Entries of fewer bytes outside a step of several changes are not announced.</summary>
    const int UnannouncedBytesMax = 64 << 10;

    /// <summary>Bytes that the entries of one step may take at most; what would take more is refused before it is done.</summary>
    long StepBytesMax => long.MaxValue;

    /// <summary>
    /// Reserves room in the batch for entries of so many bytes, before the changes that they tell of are made; the lock of a partition that
    /// writes to that batch is held. False if the batch cannot take them: it is ended once the locks are given back. Less than zero takes back
    /// what was announced and not written. What must be taken, since half of a command has been done, is told by <paramref name="force"/>; there is room
    /// for some of it beyond what others get.
    /// </summary>
    bool TryAnnounce(ulong batch, long bytes, bool force = false) => true;

    /// <summary>True once no batch is closed any more, as the log has ended or failed: who waits for room in one gives up.</summary>
    bool IsOver => false;

    /// <summary>Room for an entry of <paramref name="bytesMax"/> argument bytes in the lane of <paramref name="partition"/>.</summary>
    Span<byte> Reserve(int partition, ulong batch, in KeyRef key, int bytesMax);

    /// <summary>
    /// Completes the entry begun by <see cref="Reserve"/> with the same partition, batch and key: operation
    /// <paramref name="opId"/> on the key in <paramref name="database"/> with the first <paramref name="argumentBytes"/>
    /// bytes of the reserved room as arguments.
    /// </summary>
    void Append(int partition, ulong batch, byte opId, int database, in KeyRef key, int argumentBytes);

    /// <summary>Begins an exclusive step, before any partition lock is taken: until <see cref="Release"/> nobody else ends a batch. May wait.</summary>
    void Hold();

    /// <summary>
    /// Ends the open batch; every partition lock is held. All that has been appended is in batches up to the number
    /// returned, all that follows is in later ones.
    /// </summary>
    ulong Close();

    /// <summary>Writes an operation on the whole store as a batch of its own; after <see cref="Close"/>, the locks still held.</summary>
    void Control(byte opId, ReadOnlySpan<byte> arguments);

    /// <summary>
    /// Ends the open batch at the end of a step that held every lock since <see cref="Close"/>: all entries are in lane 0, some of
    /// them perhaps operations on the whole store (with an empty key), and run in their order. Returns the batch, 0 if
    /// nothing was appended.
    /// </summary>
    ulong CloseOrdered();

    /// <summary>Ends the exclusive step, after the partition locks are released.</summary>
    void Release();
}
