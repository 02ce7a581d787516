namespace Tsavorite;

/// <summary>
/// Puts the records of a snapshot's blocks into a store: no log, no decision about expiry. One per thread; several may load
/// blocks of one snapshot at the same time, since its keys are distinct. Keys that are there already are overwritten.
/// The owner pauses the store's expiry (<see cref="Store.PauseExpiry"/>) until what follows the snapshot has been read too: an
/// expired record may still be prolonged there. Eviction is the owner's to decide as well: under a policy that allows it, the
/// movers evict while the store is loaded beyond its limit.
/// </summary>
public sealed unsafe class SnapshotLoader : IDisposable
{
    /// <summary>Bytes that must be readable behind a block.</summary>
    public const int SlackBytes = 32;
    private const int Ahead = 16;

    private readonly Store _store;
    private readonly IValueCheck? _check;
    private readonly StoreSession _session;
    private readonly StagedNamespaces? _staged;
    private readonly LoadRecord[] _records = new LoadRecord[Ahead];
    private readonly KeyRef[] _keys = new KeyRef[Ahead];
    private IValueCheck? _judging;
    private NamedReader? _named;
    private int _database = -1;
    private uint _namespace;

    /// <summary>A loader for the calling thread; <see cref="Store.Logging"/> must be off. <paramref name="staged"/>: where to, if not into what is shown.</summary>
    public SnapshotLoader(Store store, StagedNamespaces? staged = null)
    {
        ArgumentNullException.ThrowIfNull(store);
        if (store.Logging)
            throw new InvalidOperationException("A store does not load a snapshot while it writes a log.");
        (_store, _staged) = (store, staged);
        _check = store.Settings.ValueCheck;
        _session = store.OpenSession(); // its clock stands at 0: nothing expires
    }

    /// <summary>Records loaded.</summary>
    public long Records { get; private set; }

    /// <summary>Their bytes, as they stand in the blocks.</summary>
    public long Bytes { get; private set; }

    /// <summary>
    /// Loads a block whose checksum holds; its content is not trusted all the same: values without chunks are judged before they are put
    /// in, those with chunks by <see cref="LoadedValues"/> at the end, unless the block is our own. <see cref="SlackBytes"/> readable bytes lie behind it.
    /// </summary>
    public LoadOutcome Load(ReadOnlySpan<byte> block, BlockOrigin origin = BlockOrigin.Foreign)
    {
        _judging = origin == BlockOrigin.Own ? null : _check;
        fixed (byte* start = block)
        {
            byte* next = start, end = start + block.Length;
            while (next < end)
            {
                int count = Prepare(ref next, end);
                for (int i = 0; i < count; i++)
                {
                    if (_session.Modify(_keys[i], ref _records[i]) != Outcome.Done)
                        return LoadOutcome.OutOfMemory;
                    Records++;
                    Bytes += _records[i].Bytes;
                }
                if (count < Ahead && next < end)
                    return LoadOutcome.Damaged;
            }
        }
        return LoadOutcome.Done;
    }

    /// <summary>Records in a block, -1 if it is not one; nothing is loaded.</summary>
    public static int Count(ReadOnlySpan<byte> block)
    {
        int records = 0;
        fixed (byte* start = block)
        {
            byte* next = start, end = start + block.Length;
            for (; next < end && SnapshotRecord.TryRead(next, end, out LoadRecord record); next += record.Bytes) records++;
            return next == end ? records : -1;
        }
    }

    /// <summary>Loads the records that references name, each read and judged.</summary>
    internal LoadOutcome ReadNamed(ReadOnlySpan<byte> references, Garnet.Media.IMedium medium, in NamedTable table) =>
        (_named ??= new NamedReader(medium, table)).Load(references, this);

    /// <summary>What the references come to, in their order.</summary>
    internal NamedState[] JudgeNamed(
        ReadOnlySpan<byte> references, Garnet.Media.IMedium medium, in NamedTable table, ColdLosses losses) =>
        (_named ??= new NamedReader(medium, table)).Judge(references, _store.Core, losses, null, out _);

    /// <summary>The same, and what of them can be read is loaded.</summary>
    internal NamedState[] JudgeAndReadNamed(
        ReadOnlySpan<byte> references, Garnet.Media.IMedium medium, in NamedTable table, ColdLosses losses, out LoadOutcome outcome) =>
        (_named ??= new NamedReader(medium, table)).Judge(references, _store.Core, losses, this, out outcome);

    /// <summary>Which references a start may go on with that does not believe them (<see cref="NamedReader.JudgeToAdopt"/>).</summary>
    internal bool[] JudgeToAdopt(ReadOnlySpan<byte> references, Garnet.Media.IMedium medium, in NamedTable table, out LoadOutcome outcome)
    {
        _judging = _check;
        return (_named ??= new NamedReader(medium, table)).JudgeToAdopt(references, _store.Core, this, out outcome);
    }

    /// <summary>So many were put in without being read, or are known to be lost.</summary>
    internal void CountNamed(long records, long bytes)
    {
        Records += records;
        Bytes += bytes;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _session.Dispose();
        _named?.Dispose();
    }

    /// <summary>The record's key in a store.</summary>
    internal static KeyRef KeyOf(Store store, in LoadRecord record, uint ns) =>
        record.Kind == RecordKind.Chunk && record.KeyBytes >= ChunkKey.HeadBytes
        ? ChunkKey.Of(store.Core, record.Key, record.KeyBytes, ns)
        : store.Key(record.Key, record.KeyBytes, ns);

    /// <summary>True if a record is what its kind must be, as far as it alone can say: pieces and those that name them wait for all of them to be there (<see cref="LoadedValues"/>).</summary>
    internal bool IsSound(in LoadRecord record)
    {
        if (_judging is null || record.Kind == RecordKind.String)
            return true;
        // A piece goes with its root: it has no expiry, tag or number of its own.
        if (record.Kind == RecordKind.Chunk)
            return record is { ExpireAtMs: 0, ETag: 0, Owner: 0 } && record.KeyBytes >= ChunkKey.HeadBytes;
        return record.Owner != 0 || _judging.IsSound(record.Kind, new ReadOnlySpan<byte>(record.Value, record.ValueBytes));
    }

    // The buckets of some records are brought towards the cache before the first is looked at.
    private int Prepare(ref byte* next, byte* end)
    {
        int count = 0;
        for (; count < Ahead && SnapshotRecord.TryRead(next, end, out LoadRecord record) && IsSound(record); count++)
        {
            if (record.Database != _database)
            {
                _database = record.Database;
                _namespace = _staged?.Id(_database) ?? _store.Namespaces.Id(_database);
            }
            _keys[count] = KeyOf(_store, record, _namespace);
            _records[count] = record;
            _store.PrefetchBucket(_keys[count]);
            next += record.Bytes;
        }
        return count;
    }
}
