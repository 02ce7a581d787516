namespace Garnet.Common.Time;

/// <summary>Short times by a clock that somebody may set back.</summary>
public static class Elapsed
{
    /// <summary>
    /// True if less than so many milliseconds have passed since that moment. Where the clock stands before it, somebody has set it back, and the time counts as over: who waits
    /// would otherwise wait for as long as the clock went back.
    /// </summary>
    public static bool IsWithin(long nowMs, long sinceMs, long forMs) => nowMs - sinceMs is >= 0 and var passedMs && passedMs < forMs;
}
