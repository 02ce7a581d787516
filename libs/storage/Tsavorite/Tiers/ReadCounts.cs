using System.Runtime.CompilerServices;

namespace Tsavorite;

/// <summary>What a session had counted of reads before a command that may be put off for the tier: it counts when it runs again.</summary>
public struct ReadCounts
{
    private long _hits, _misses, _coldHits;

    /// <summary>A command begins.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)] // on the path of every command
    public void Begin(StoreSession session)
    {
        if (session.Tier is { } tier)
            (_hits, _misses, _coldHits) = (session.Hits, session.Misses, tier.Reads.Hits);
    }

    /// <summary>It is put off.</summary>
    public readonly void TakeBack(StoreSession session)
    {
        if (session.Tier is { } tier)
            (session.Hits, session.Misses, tier.Reads.Hits) = (_hits, _misses, _coldHits);
    }
}
