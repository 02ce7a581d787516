namespace Tsavorite;

/// <summary>
/// How long a round of the movers has been under way, as those see it who look again and again. Time in which nobody looked counts for a moment only: the
/// process was stopped then, or the machine, and the medium had no chance.
/// </summary>
internal sealed class RoundTimer
{
    private const long UnseenMsMax = 100; // whoever waits for room looks every few milliseconds

    private long _beganMs, _lookedMs, _seenMs;

    /// <summary>A round begins.</summary>
    public void Begin(long nowMs)
    {
        Volatile.Write(ref _seenMs, 0);
        Volatile.Write(ref _lookedMs, nowMs);
        Volatile.Write(ref _beganMs, nowMs);
    }

    /// <summary>It is over.</summary>
    public void End() => Volatile.Write(ref _beganMs, 0);

    /// <summary>How long it has lasted, milliseconds; 0 if none is under way.</summary>
    public long Look(long nowMs)
    {
        if (Volatile.Read(ref _beganMs) == 0)
            return 0;
        long unseenMs = nowMs - Interlocked.Exchange(ref _lookedMs, nowMs);
        return Interlocked.Add(ref _seenMs, Math.Clamp(unseenMs, 0, UnseenMsMax));
    }
}
