namespace Garnet.Aof.Writing;

/// <summary>
/// How far the log is, over all sublogs, and what is wrong with it.
/// log.W4: a number is reported only after all sublogs have passed it, and never goes back.
/// </summary>
internal sealed class LogState
{
    private readonly Lock _gate = new();
    private readonly ulong[] _writtenBy, _durableBy;
    private readonly string?[] _stalledBy;
    private ulong _written, _durable;
    private volatile string? _poison, _stalled, _lastError;

    public LogState(int sublogs, ulong lastBatch)
    {
        _writtenBy = new ulong[sublogs];
        _durableBy = new ulong[sublogs];
        _stalledBy = new string?[sublogs];
        Array.Fill(_writtenBy, lastBatch);
        Array.Fill(_durableBy, lastBatch);
        _written = _durable = lastBatch;
    }

    /// <summary>Raised by whoever wrote, on a writer's thread or on one that waits for the batch, when the durable number or one of the states moved.</summary>
    public event Action? Advanced;

    public ulong Written => Volatile.Read(ref _written);
    public ulong Durable => Volatile.Read(ref _durable);
    public string? Poison => _poison;
    public string? Stalled => _stalled;
    public string? LastError => _lastError;

    /// <summary>A sublog has written and made durable all up to these numbers.</summary>
    public void Report(int sublog, ulong written, ulong durable)
    {
        bool moved;
        lock (_gate)
        {
            _writtenBy[sublog] = Math.Max(_writtenBy[sublog], written);
            _durableBy[sublog] = Math.Max(_durableBy[sublog], durable);
            ulong all = _durableBy.Min();
            ulong given = _writtenBy.Min();
            moved = all != _durable || given != _written;
            Volatile.Write(ref _written, given);
            Volatile.Write(ref _durable, all);
        }
        if (moved)
            Advanced?.Invoke();
    }

    /// <summary>The disk failed for good: nothing written since the last sync may be believed.</summary>
    public void Fail(string why)
    {
        lock (_gate)
        {
            _lastError = why;
            _poison ??= why;
        }
        Advanced?.Invoke();
    }

    /// <summary>A sublog waits for space, or (null) no longer.</summary>
    public void Stall(int sublog, string? why)
    {
        string? before = _stalled;
        lock (_gate)
        {
            _stalledBy[sublog] = why;
            _stalled = Array.Find(_stalledBy, static one => one != null);
            _lastError = why ?? _lastError;
        }
        if (before != _stalled)
            Advanced?.Invoke();
    }
}
