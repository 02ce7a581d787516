namespace Garnet.Server.Inspect;

/// <summary>The tracking session of HOTKEYS: one at a time, which stays to be looked at until it is given up or the next one begins.</summary>
internal sealed class HotKeys
{
    private readonly Lock _gate = new();
    private volatile HotKeySession? _session;

    /// <summary>The one under way, or the last; null if there is none.</summary>
    internal HotKeySession? Session => _session;

    /// <summary>True while commands are looked at.</summary>
    internal bool IsActive => _session is { IsActive: true };

    /// <summary>Begins a session; false if one is under way.</summary>
    internal bool TryStart(Func<HotKeySession> begin, long nowMs)
    {
        lock (_gate)
        {
            _session?.Look(nowMs);
            if (IsActive)
                return false;
            _session = begin();
            return true;
        }
    }

    /// <summary>Gives up what the last session has; false while it is under way.</summary>
    internal bool TryReset(long nowMs)
    {
        lock (_gate)
        {
            _session?.Look(nowMs);
            if (IsActive)
                return false;
            _session = null;
            return true;
        }
    }
}
