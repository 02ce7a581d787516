using Garnet.Common.Time;

namespace Tsavorite;

/// <summary>
/// Room that writers have asked for and not found: what is kept free anyway may be less than one of them needs. It is wanted for as long as he waits; who still does asks again.
/// Any thread asks, the mover's takes.
/// </summary>
internal sealed class WantedRoom(int patienceMs)
{
    private long _asked, _bytes, _wantedMs;

    public void Ask(long bytes)
    {
        long asked = Volatile.Read(ref _asked);
        while (asked < bytes && Interlocked.CompareExchange(ref _asked, bytes, asked) is var found && found != asked) asked = found;
    }

    /// <summary>It is there, or nobody waits for it any more.</summary>
    public void Drop()
    {
        Interlocked.Exchange(ref _asked, 0);
        _bytes = 0;
    }

    /// <summary>The most that is wanted now, bytes.</summary>
    public long Bytes(long nowMs)
    {
        if (!Elapsed.IsWithin(nowMs, _wantedMs, patienceMs))
            _bytes = 0;
        long asked = Interlocked.Exchange(ref _asked, 0);
        if (asked != 0)
            (_bytes, _wantedMs) = (Math.Max(_bytes, asked), nowMs);
        return _bytes;
    }
}
