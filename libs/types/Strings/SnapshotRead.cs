using Tsavorite;

namespace Garnet.Types.Strings;

/// <summary>
/// Reads of several keys that see them as they were at one moment: what stands in the loop over <see cref="Next"/> runs until
/// nothing about the keys has changed while it ran; the third time the keys are locked.
/// </summary>
public ref struct SnapshotRead(StoreSession store, ReadOnlySpan<KeyRef> keys)
{
    private const int FreeTries = 2;
    private readonly ReadOnlySpan<KeyRef> _keys = keys;
    private ulong _sum;
    private int _tries;

    /// <summary>The reading runs once more: what it counts was counted.</summary>
    public readonly bool IsAgain => _tries > 1;

    /// <summary>True if the reading is to run, for the first time or again.</summary>
    public bool Next()
    {
        if (_tries > FreeTries)
        {
            store.Unlock();
            return false;
        }

        ulong sum = store.VersionOf(_keys);
        if (_tries > 0 && sum == _sum)
            return false;
        _sum = sum;
        if (++_tries > FreeTries)
            store.Lock(_keys);
        return true;
    }
}
