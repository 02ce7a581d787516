using Garnet.Common;

namespace Tsavorite;

/// <summary>
/// Which batch of the log the last change of a key is in, as far as a few places for each partition can tell: that one or a later one.
/// For whoever must not speak of a change that the log has not kept yet.
/// A place is raised under the partition's lock, behind the change; whoever may have seen a change that he does not find here waits
/// for that lock first (store.U19).
/// </summary>
internal sealed unsafe class ChangeSketch : IDisposable
{
    // 16 KiB for each partition; numbers of batches in full, for a half of one would come round again within days.
    private const int PlacesBits = 11, Places = 1 << PlacesBits;

    private readonly int _partitions;
    private readonly NativeArray<ulong> _places;
    private ulong _all;

    public ChangeSketch(int partitions)
    {
        _partitions = partitions;
        _places = new NativeArray<ulong>((long)partitions * Places);
    }

    public long Bytes => (long)_partitions * Places * sizeof(ulong);

    /// <summary>A key was changed in the batch; the partition's lock is held.</summary>
    public void Note(int partition, ulong hash, ulong batch)
    {
        *Place(partition, 0) = batch; // the one for any key, and for those whose place it is besides
        *Place(partition, hash) = batch;
    }

    /// <summary>All keys were changed in the batch; all locks are held.</summary>
    public void NoteAll(ulong batch) => Volatile.Write(ref _all, batch);

    /// <summary>A batch not before that of the key's last change.</summary>
    public ulong Of(int partition, ulong hash) => Math.Max(Volatile.Read(ref _all), Volatile.Read(ref *Place(partition, hash)));

    /// <summary>The batch of the last change of any key.</summary>
    public ulong OfAny()
    {
        ulong last = Volatile.Read(ref _all);
        for (int partition = 0; partition < _partitions; partition++) last = Math.Max(last, Volatile.Read(ref *Place(partition, 0)));
        return last;
    }

    /// <summary>Another log begins, and nothing of it is in this one; all locks are held.</summary>
    public void Clear()
    {
        _places.Clear();
        Volatile.Write(ref _all, 0);
    }

    /// <inheritdoc/>
    public void Dispose() => _places.Dispose();

    private ulong* Place(int partition, ulong hash) => _places.Items + ((long)partition << PlacesBits) + (long)(hash & (Places - 1));
}
