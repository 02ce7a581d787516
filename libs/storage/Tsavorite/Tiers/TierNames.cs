namespace Tsavorite;

/// <summary>
/// Which snapshots on disk name segments of the tier, by the names of their files (store.C9). A file that is about to take the place of one of the
/// same name counts beside it until it is known which of them is there.
/// </summary>
public sealed class TierNames
{
    /// <summary>A snapshot is wanted when more than this part of the tier waits for nothing but the snapshots that name it, or anything while there is no room else.</summary>
    private const double WaitingShareMax = 0.15;

    private readonly ColdTier _tier;
    private readonly Lock _gate = new();
    private readonly List<(string File, uint[] Segments)> _files = [];
    private volatile bool _isBroken, _isInTheWay;
    private bool _newestHasAll; // the newest snapshot needs no tier

    internal TierNames(ColdTier tier) => _tier = tier;

    /// <summary>False once the medium has failed to make something durable: what it has dropped then nobody knows, and snapshots have all records again.</summary>
    public bool MayName => !_isBroken;

    /// <summary>Why not; empty as long as it has not.</summary>
    public string WhyBroken { get; private set; } = "";

    /// <summary>Bytes of segments that are not free only because snapshots name them.</summary>
    public long WaitingBytes => (long)_tier.Segments.Kept * _tier.Segments.SegmentBytes;

    /// <summary>True if a new snapshot would give much room back.</summary>
    public bool WantsSnapshot => WaitsFor(_tier.Segments) || (_isInTheWay && _tier.Segments.Kept > 0);

    /// <summary>
    /// What the snapshot, which is whole, names is kept from now on, and durable. False: it is not, and the snapshot must not count.
    /// </summary>
    public bool TryKeep(string file, StoreSnapshot snapshot)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        uint[] segments = snapshot.NamedSegments;
        if (segments.Length == 0)
            return true;
        if (!TrySync())
            return false;
        lock (_gate)
        {
            _tier.Segments.Name(segments);
            _files.Add((file, segments));
        }
        return true;
    }

    /// <summary>True if a start would not find what the newest snapshot names, as the tier's file was removed, cut, or could not be made durable.</summary>
    public bool LacksFile()
    {
        lock (_gate)
        {
            if (_files.Count == 0 || _newestHasAll)
                return false;
        }
        return _isBroken || !TrySync();
    }

    /// <summary>True if the tier's file has been removed or cut, which snapshots name and nobody has noticed yet: the next one has all records.</summary>
    public bool FindsGone()
    {
        if (_isBroken || !_tier.Medium.IsGone)
            return false;
        lock (_gate) return _files.Count != 0 && !TrySync();
    }

    private bool TrySync()
    {
        int error = _tier.Medium.Sync();
        if (error == 0)
            return true;
        _isBroken = true;
        _tier.CountWrite(0, 0, error);
        WhyBroken = _tier.LastFailure ?? "";
        return false;
    }

    /// <summary>No snapshots but these are on disk, each as it was written last.</summary>
    public void Published(string newest, string? previous)
    {
        lock (_gate)
        {
            int keptNewest = _files.FindLastIndex(named => named.File == newest);
            _newestHasAll = keptNewest < 0;
            int keptPrevious = _files.FindLastIndex(named => named.File == previous);
            for (int i = _files.Count - 1; i >= 0; i--)
            {
                if (i == keptNewest || i == keptPrevious)
                    continue;
                _tier.Segments.Unname(_files[i].Segments);
                _files.RemoveAt(i);
            }
        }
        _tier.BeginPassed();
    }

    /// <summary>Told by the movers: true if only segments that old snapshots still name could be freed, so that a new snapshot is the one way to get room.</summary>
    internal void TellInTheWay(bool isInTheWay) => _isInTheWay = isInTheWay;

    internal static bool WaitsFor(ColdLayers segments) => segments.Kept > segments.Total * WaitingShareMax;

    /// <summary>A file that was there at the start names them.</summary>
    internal void Found(string file, uint[] segments)
    {
        lock (_gate) _files.Add((file, segments));
    }

    internal bool Has(string file)
    {
        lock (_gate) return _files.Exists(named => named.File == file);
    }
}
