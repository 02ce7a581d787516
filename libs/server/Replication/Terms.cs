using Garnet.Aof;

namespace Garnet.Server.Replication;

/// <summary>
/// Which terms this log has had since the server started, and with which batch each began: where another history left it.
/// Nobody grants terms. A start takes the next one, a promotion the next multiple of <see cref="Step"/>: so a primary that comes back
/// after another one was promoted has neither its term nor a later one.
/// </summary>
internal sealed class Terms
{
    private const uint Step = 64; // so many starts without a promotion between them before the two could meet

    private readonly Lock _gate = new();
    private readonly List<(uint Term, ulong First)> _known = [];

    /// <summary>The term of a server that leads on behind its own log.</summary>
    internal static uint AfterStart(uint last) => last + 1;

    /// <summary>The term of a replica that leads in its primary's place.</summary>
    internal static uint AfterPromotion(uint last) => ((last / Step) + 1) * Step;

    /// <summary>A term begins with the batch.</summary>
    internal void Add(uint term, ulong first)
    {
        lock (_gate)
            _known.Add((term, first));
    }

    /// <summary>The last batch of the term; <see cref="ulong.MaxValue"/> if it has not ended or that is not known.</summary>
    internal ulong EndOf(uint term)
    {
        lock (_gate)
        {
            foreach ((uint later, ulong first) in _known)
            {
                if (later > term)
                    return first - 1;
            }
        }

        return ulong.MaxValue;
    }

    /// <summary>The last batch that the position's history shares with one that ends at <paramref name="end"/>; <see cref="ulong.MaxValue"/> = not known.</summary>
    internal ulong ForkOf(LogPosition position, LogPosition end)
    {
        if (!position.IsKnown)
            return ulong.MaxValue;
        ulong known = EndOf(position.Term);
        if (known != ulong.MaxValue)
            return Math.Min(known, position.Batch);
        return position.Term == end.Term && position.Batch > end.Batch ? end.Batch : ulong.MaxValue;
    }
}
