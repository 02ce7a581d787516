using Garnet.Common.Resp;
using Tsavorite;

namespace Garnet.Types.SortedSets;

/// <summary>How elements are replied: with scores or not, flat or in pairs.</summary>
public struct SortedReply(RespWriter to)
{
    public bool WithScores;
    /// <summary>Pairs are arrays of their own: in RESP3, unless said otherwise, and always for some commands.</summary>
    public bool Nested;
    /// <summary>A key's name stands before the elements (ZMPOP).</summary>
    public Arg Name;
    public bool Named;
    /// <summary>The name, the only element and its score are one array (BZPOPMIN).</summary>
    public bool Single;

    public readonly void Write(ref RecordEdit edit, (long Rank, long Count) range, bool reverse, in HiddenRanks hidden)
    {
        (long rank, long count) = range;
        if (Named)
        {
            to.Array(Single ? 3 : 2);
            to.Bulk(Name.Span);
        }

        if (!Single)
            to.Array((int)(WithScores && !Nested ? count * 2 : count));
        if (count == 0)
            return;
        var walk = default(SortedWalk);
        walk.Begin(ref edit, reverse ? rank + count : rank, hidden);
        for (long i = 0; i < count && (reverse ? walk.Previous(ref edit) : walk.Next(ref edit)); i++)
        {
            if (WithScores && Nested)
                to.Array(2);
            to.Bulk(walk.Span);
            if (WithScores)
                to.Double(walk.Score);
        }
    }
}
