using Garnet.Server.Clients;

namespace Garnet.Server.Sessions;

/// <summary>
/// CLIENT PAUSE: until when, and whether for writes only. Shared by all reactors; changed under its lock, and begun in a turn of its own
/// (rule scripting.G4): once CLIENT PAUSE is answered, nothing that it holds is run.
/// </summary>
internal sealed class ClientPause
{
    private readonly Lock _gate = new();
    private long _allUntilMs;
    private long _writesUntilMs;

    /// <summary>True while a pause has been asked for and may not be over.</summary>
    internal bool Active => Volatile.Read(ref _allUntilMs) != 0 || Volatile.Read(ref _writesUntilMs) != 0;

    /// <summary>When the pause that holds these commands ends.</summary>
    internal long UntilMs => Math.Max(Volatile.Read(ref _allUntilMs), Volatile.Read(ref _writesUntilMs));

    /// <summary>Begins or prolongs a pause.</summary>
    internal void Begin(long untilMs, bool writesOnly)
    {
        lock (_gate)
        {
            if (writesOnly)
                _writesUntilMs = Math.Max(_writesUntilMs, untilMs);
            else
                _allUntilMs = Math.Max(_allUntilMs, untilMs);
        }
    }

    /// <summary>Ends every pause.</summary>
    internal void End()
    {
        lock (_gate)
            _allUntilMs = _writesUntilMs = 0;
    }

    // Looked at again under the lock: another pause may have begun.
    private void EndIfOver(long nowMs)
    {
        lock (_gate)
        {
            if (UntilMs <= nowMs)
                _allUntilMs = _writesUntilMs = 0;
        }
    }

    /// <summary>True if a command with these flags must wait now.</summary>
    internal bool Holds(CommandFlags flags, long nowMs)
    {
        if (!Active)
            return false;
        if (UntilMs <= nowMs)
        {
            EndIfOver(nowMs);
            return false; // one that begins meanwhile waits for this batch
        }

        if (Volatile.Read(ref _allUntilMs) > nowMs)
            return true;
        return Volatile.Read(ref _writesUntilMs) > nowMs && (flags & (CommandFlags.Write | CommandFlags.MayReplicate)) != 0;
    }
}
