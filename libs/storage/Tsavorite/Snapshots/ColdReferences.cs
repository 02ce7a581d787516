using Garnet.Media;

namespace Tsavorite;

/// <summary>
/// The records of a snapshot's cut that lie on the tier: noted by their words under the partition's lock, which copies nothing, and read and
/// handed out later without it. What they name stays where it is until the snapshot ends (store.C2).
/// </summary>
internal sealed unsafe class ColdReferences : IDisposable
{
    private const int WindowMax = 1024, BlockBytes = SnapshotWalk.BlockBytes;
    /// <summary>Bytes that are read side by side; a single record may have more.</summary>
    private const long WindowBytesMax = 8 << 20;
    private readonly StoreSnapshot _snapshot;
    private readonly ColdReads _reads;
    private readonly ColdLayers _segments;
    private readonly Lock _gate = new();
    private readonly List<ulong> _window = [];
    private List<ulong> _words = [];
    private byte[] _block = new byte[BlockBytes];
    private int _used, _records;

    public ColdReferences(StoreSnapshot snapshot, ColdTier tier)
    {
        _snapshot = snapshot;
        _segments = tier.Segments;
        _reads = new ColdReads(tier, ReaderWake.None) { IsBesideCommands = true };
    }

    /// <summary>Notes a word; its partition is locked.</summary>
    public void Add(ulong word)
    {
        lock (_gate) _words.Add(word);
    }

    /// <summary>Reads what was noted and hands it out.</summary>
    /// <exception cref="Garnet.Common.GarnetException">A record cannot be read: the snapshot is not whole.</exception>
    public void HandOut(ISnapshotSink sink)
    {
        List<ulong> words;
        lock (_gate)
        {
            if (_words.Count == 0)
                return;
            (words, _words) = (_words, []);
        }
        // neighbours share pages, and a disk reads on
        words.Sort(static (left, right) => ColdAddress.Offset(left).CompareTo(ColdAddress.Offset(right)));
        for (int next = 0; next < words.Count;)
        {
            _reads.BeginStep();
            _window.Clear();
            for (long bytes = 0; next < words.Count && _window.Count < WindowMax && (bytes == 0 || bytes < WindowBytesMax); next++)
            {
                _window.Add(words[next]);
                _reads.Record(words[next]);
                bytes += _segments.BytesMaxOf(words[next]);
            }
            _reads.Fetch(mayThrow: false);
            foreach (ulong word in _window) Encode(_reads.Record(word), sink);
            _reads.Release();
        }
        Flush(sink);
    }

    /// <inheritdoc/>
    public void Dispose() => _reads.Dispose();

    private void Encode(byte* image, ISnapshotSink sink)
    {
        if (!_snapshot.Includes(image, out int database))
            return;
        int bytes = SnapshotRecord.BytesOf(image);
        if (_used + bytes > BlockBytes)
            Flush(sink);
        if (bytes > _block.Length)
            _block = new byte[bytes];
        fixed (byte* to = _block) SnapshotRecord.Write(to + _used, image, database);
        _used += bytes;
        _records++;
        if (_used >= BlockBytes)
            Flush(sink);
    }

    private void Flush(ISnapshotSink sink)
    {
        if (_records == 0)
            return;
        sink.Write(_block.AsSpan(0, _used), _records);
        _snapshot.CountOut(_records, _used);
        _used = _records = 0;
        if (_block.Length > BlockBytes)
            _block = new byte[BlockBytes]; // a large record is rare, and its room is not kept
    }
}
