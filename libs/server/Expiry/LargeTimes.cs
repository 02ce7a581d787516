namespace Garnet.Server.Expiry;

/// <summary>
/// When the first entry of a large collection is due, as the walk has learned it: its pieces may lie on the tier and are not all looked at again before.
/// Whoever gives an entry an expiry says so behind his change, from any thread; what was learned beside that does not count. A collection is known by its
/// owner number, which no other ever has: what was learned of a key that holds another now says nothing of that.
/// </summary>
internal sealed class LargeTimes
{
    private const int KeysMax = 10_000; // 400 KB; beyond that they are looked at once more

    private readonly Lock _gate = new();
    private readonly Dictionary<ulong, (ulong Owner, long FromMs)> _times = [];
    private ulong _lookedAt;
    private bool _isStale;
    private long _toldMs; // of the one that is looked at

    /// <summary>A key is about to be looked at; what is known of it.</summary>
    internal (ulong Owner, long FromMs) Begin(ulong hash)
    {
        lock (_gate)
        {
            (_lookedAt, _isStale, _toldMs) = (hash, false, long.MaxValue);
            return _times.GetValueOrDefault(hash);
        }
    }

    /// <summary>All of it was looked at; false if entries may have been given an expiry meanwhile, nobody knows which.</summary>
    internal bool TryLearn(ulong owner, ref long fromMs)
    {
        lock (_gate)
        {
            if (_isStale)
                return false;
            fromMs = Math.Min(fromMs, _toldMs);
            if (_times.Count == KeysMax)
                _times.Clear();
            if (owner != 0)
                _times[_lookedAt] = (owner, fromMs);
            return true;
        }
    }

    /// <summary>Entries of the key were given that expiry: not all of it has to be looked at for them.</summary>
    internal void Tell(ulong hash, long expireAtMs)
    {
        lock (_gate)
        {
            if (hash == _lookedAt)
                _toldMs = Math.Min(_toldMs, expireAtMs);
            if (_times.TryGetValue(hash, out (ulong Owner, long FromMs) known))
                _times[hash] = (known.Owner, Math.Min(known.FromMs, expireAtMs));
        }
    }

    /// <summary>Entries of the key may have been given an expiry, whichever.</summary>
    internal void Forget(ulong hash)
    {
        lock (_gate)
        {
            _isStale |= hash == _lookedAt;
            _times.Remove(hash);
        }
    }

    /// <summary>Entries may have been given an expiry without a word.</summary>
    internal void Forget()
    {
        lock (_gate)
        {
            _isStale = true;
            _times.Clear();
        }
    }
}
