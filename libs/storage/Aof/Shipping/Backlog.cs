using Garnet.Aof.Format;

namespace Garnet.Aof.Shipping;

/// <summary>
/// The last batches in memory, as the same bytes that go to the files, for replicas that are close behind; and where the log
/// stands. Told by the sublogs' writers, one part after the other; read by whoever ships.
/// log.B1: a batch is here when all its parts are, and batches become whole in their order.
/// log.B2: bytes are kept from <see cref="Keep"/> on only: a server that nobody follows pays for headers, not for copies.
/// log.B3: never more than <see cref="BytesMax"/>, but for what an attached reader still wants, and that up to <see cref="PinnedBytesMax"/>.
/// </summary>
public sealed class Backlog : IDisposable
{
    private readonly Lock _gate = new();
    private readonly List<BacklogPin> _pins = [];
    private readonly List<Entry> _entries = [];
    private int _head, _whole;
    private LogPosition _before = LogPosition.None;
    private LogPosition? _filled;
    private bool _keeps;
    private long _bytes, _total;

    /// <summary>A batch, how many of its parts have been laid out, and the bytes of all batches up to it.</summary>
    private record struct Entry(BatchBytes Batch, int Laid, long Total = 0);

    /// <summary>Bytes kept without anybody needing them.</summary>
    public long BytesMax { get; set; } = 64L << 20;

    /// <summary>Bytes kept because a reader that is attached needs them; one that is slower loses its place.</summary>
    public long PinnedBytesMax { get; set; } = 256L << 20;

    /// <summary>Raised by whoever wrote, on its thread, whenever a batch has become whole. Handlers must be quick and must not throw.</summary>
    public event Action? Grew;

    /// <summary>True from <see cref="Keep"/> on.</summary>
    public bool IsKept => Volatile.Read(ref _keeps);

    /// <summary>Bytes kept now.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>The first batch kept whole, or the one to come.</summary>
    public ulong First
    {
        get
        {
            lock (_gate) return _before.Batch + 1;
        }
    }

    /// <summary>Behind the last batch that is whole.</summary>
    public LogPosition End
    {
        get
        {
            lock (_gate) return EndLocked();
        }
    }

    /// <summary>
    /// Behind the last batch that holds anything, as far as is known: the state of the store there is that at the end.
    /// </summary>
    public LogPosition Filled
    {
        get
        {
            lock (_gate) return _filled ?? EndLocked();
        }
    }

    /// <summary>From now on bytes are kept.</summary>
    public void Keep()
    {
        lock (_gate) _keeps = true;
    }

    /// <summary>
    /// The log goes on behind the position; unless that is where it stood, all kept before is foreign and goes.
    /// <paramref name="filled"/>: behind which earlier batch nothing but empty ones came; null if that is not known.
    /// </summary>
    public void Continue(LogPosition position, LogPosition? filled = null)
    {
        ArgumentNullException.ThrowIfNull(position);
        lock (_gate)
        {
            while (Count > _whole) DropLast();
            if (EndLocked().Is(position))
                return;
            while (Count > 0) DropFirst();
            _before = position;
            _filled = filled;
        }
    }

    /// <summary>The log is cut behind the position, and goes on there.</summary>
    public void Rewind(LogPosition position)
    {
        ArgumentNullException.ThrowIfNull(position);
        lock (_gate)
        {
            while (Count > 0 && At(Count - 1).Batch > position.Batch) DropLast();
            _filled = null;
        }
        Continue(position);
    }

    /// <summary>The batch, held for the caller; null if it is not here (any more, or yet).</summary>
    public BatchBytes? TryTake(ulong batch)
    {
        lock (_gate)
        {
            if (batch <= _before.Batch || batch - _before.Batch > (ulong)_whole)
                return null;
            BatchBytes found = At((int)(batch - _before.Batch - 1));
            found.Hold();
            return found;
        }
    }

    /// <summary>What the log is behind the batch; null if that is not known here.</summary>
    public LogPosition? PositionAt(ulong batch)
    {
        lock (_gate)
        {
            if (batch == _before.Batch)
                return _before;
            if (batch < _before.Batch || batch - _before.Batch > (ulong)_whole)
                return null;
            return At((int)(batch - _before.Batch - 1)).Position;
        }
    }

    /// <summary>Bytes of the batches behind this one, as far as they are here, and when the first of them was closed (Unix microseconds); zeros if there are none.</summary>
    public (long Bytes, long SealedUnixUs) Behind(ulong batch)
    {
        lock (_gate)
        {
            int first = batch <= _before.Batch ? 0 : (int)Math.Min(batch - _before.Batch, (ulong)_whole);
            if (first == _whole)
                return default;
            BatchBytes next = At(first);
            return (_total - _entries[_head + first].Total + next.Bytes, (long)next.SealedUnixUs);
        }
    }

    /// <summary>A reader attaches: what it has not taken yet is kept as long as there is room (log.B3).</summary>
    public BacklogPin Pin(ulong next)
    {
        var pin = new BacklogPin(this, next);
        lock (_gate) _pins.Add(pin);
        return pin;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        lock (_gate)
        {
            while (Count > 0) DropLast();
            _keeps = false;
        }
    }

    internal void Unpin(BacklogPin pin)
    {
        lock (_gate) _pins.Remove(pin);
    }

    /// <summary>A sublog has laid out a part. <paramref name="shared"/>: the batch came whole from elsewhere and is kept as it is.</summary>
    internal void Take(in BatchHeader header, uint crc, ReadOnlySpan<byte> part, BatchBytes? shared)
    {
        bool grew;
        lock (_gate)
        {
            int at = _head + (int)(header.Batch - _before.Batch - 1);
            if (at == _entries.Count)
                Begin(header, shared);
            Entry entry = _entries[at];
            if (shared is null)
            {
                long before = entry.Batch.Bytes;
                entry.Batch.Add(header, crc, part, _keeps);
                _bytes += entry.Batch.Bytes - before;
            }
            _entries[at] = entry with { Laid = entry.Laid + 1 };
            grew = entry.Laid + 1 == header.Parts;
            if (grew)
                BecomeWhole(entry.Batch);
        }
        if (grew)
            Grew?.Invoke();
    }

    private int Count => _entries.Count - _head;

    private BatchBytes At(int index) => _entries[_head + index].Batch;

    private LogPosition EndLocked() => _whole == 0 ? _before : At(_whole - 1).Position;

    private void Begin(in BatchHeader header, BatchBytes? shared)
    {
        shared?.Hold();
        _bytes += shared?.Bytes ?? 0;
        _entries.Add(new Entry(shared ?? new BatchBytes(header), 0));
    }

    // log.B2: of a batch whose first parts came before Keep there is nothing to ship.
    private void BecomeWhole(BatchBytes batch)
    {
        _filled = batch.Entries > 0 ? null : _filled ?? EndLocked();
        _total += batch.Bytes;
        _entries[_head + _whole] = _entries[_head + _whole] with { Total = _total };
        _whole++;
        if (!_keeps || !batch.HasBytes)
        {
            while (_whole > 0) DropFirst();
            return;
        }
        while (_whole > 1 && _bytes > BytesMax && (_bytes > PinnedBytesMax || !IsWanted(_before.Batch + 1))) DropFirst(); // log.B3
    }

    private bool IsWanted(ulong batch)
    {
        foreach (BacklogPin pin in _pins)
            if (pin.Next <= batch)
                return true;
        return false;
    }

    private void DropFirst()
    {
        BatchBytes first = At(0);
        if (_whole > 0)
        {
            _before = first.Position;
            _whole--;
        }
        _bytes -= first.Bytes;
        first.Release();
        _entries[_head++] = default;
        if (_head < 1024 || _head < _entries.Count / 2)
            return;
        _entries.RemoveRange(0, _head);
        _head = 0;
    }

    private void DropLast()
    {
        BatchBytes last = At(Count - 1);
        _whole = Math.Min(_whole, Count - 1);
        _bytes -= last.Bytes;
        last.Release();
        _entries.RemoveAt(_entries.Count - 1);
    }
}
