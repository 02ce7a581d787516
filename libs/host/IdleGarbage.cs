namespace Garnet.Host;

/// <summary>
/// Gives back what commands have left on the managed heap (copies of large elements that were sorted, say): the runtime collects when somebody
/// allocates, and gives memory back when it collects, so that an idle server would keep it for ever. Collects once the heap has stood still, where a pause keeps nobody waiting.
/// Of much it does not wait for that: a large copy that a MIGRATE has left would stay for as long as others are busy. The pause is that of
/// what lives, which is little.
/// </summary>
internal sealed class IdleGarbage(Func<long> heapBytes, Func<long> committedBytes, Func<int> collections, Action collect) : IDisposable
{
    /// <summary>What may lie about: less than a small server is allowed to take, more than a busy one leaves between two collections.</summary>
    internal const long BytesMax = 32 << 20;

    /// <summary>What does not lie about beside those who are busy either, over what the last collection of ours could not give back.</summary>
    internal const long MuchBytes = 128 << 20;

    private const long StillBytes = 1 << 20;
    private const int LookMs = 1000, LooksMin = 30, LooksMax = 3600, MuchLooks = 3;

    private long _before, _live, _kept;
    private int _collections = -1, _own = -1, _looks, _looksUntil = LooksMin, _much;
    private Timer? _timer;

    /// <summary>Of this process.</summary>
    internal IdleGarbage() : this(static () => GC.GetTotalMemory(false), static () => GC.GetGCMemoryInfo().TotalCommittedBytes,
        static () => GC.CollectionCount(2),
        static () => GC.Collect(2, GCCollectionMode.Aggressive, blocking: true, compacting: true))
    {
    }

    /// <summary>Looks once a second from now on.</summary>
    internal void Start() => _timer = new Timer(static self => ((IdleGarbage)self!).Look(), this, LookMs, LookMs);

    /// <summary>Looks once; called by one thread at a time.</summary>
    internal void Look()
    {
        long now = heapBytes(), committed = committedBytes();
        bool isStill = Math.Abs(now - _before) < StillBytes;
        _before = now;
        _much = committed > _kept + MuchBytes ? _much + 1 : 0;
        bool isMuch = _much >= MuchLooks;
        if (!isMuch && collections() != _collections)
        {
            _collections = collections(); // what is there behind it was in use then; what of it still is, a collection of our own tells
            _live = now;
            (_looks, _looksUntil) = (0, LooksMin);
            return;
        }

        bool isIdle = isStill && (now - _live > BytesMax || (_own != _collections && committed > BytesMax));
        bool mayAskAgain = isStill || committed > MuchBytes;
        if (!isMuch && !isIdle && !(mayAskAgain && IsTimeToAskAgain()))
            return;
        collect();
        _own = _collections = collections(); // of the system's memory it keeps what it must
        _before = _live = heapBytes();
        (_kept, _much) = (committedBytes(), 0);
    }

    // Nobody tells when what a collection of ours found in use is in use no more (its client has gone): so another is made after some looks, the next after
    // twice as many.
    private bool IsTimeToAskAgain()
    {
        if (committedBytes() <= BytesMax || ++_looks < _looksUntil)
            return false;
        (_looks, _looksUntil) = (0, Math.Min(_looksUntil * 2, LooksMax));
        return true;
    }

    /// <inheritdoc/>
    public void Dispose() => _timer?.Dispose();
}
