using Garnet.Types.SortedSets;
using Tsavorite;

namespace Garnet.Types.Geo;

/// <summary>Gathers the members of a sorted set that lie in a shape; at most so many, 0 for all.</summary>
public struct GeoLook(GeoShape shape, long limit) : IExamine
{
    public readonly List<GeoMatch> Matches = [];
    public bool WrongKind;

    public void Look(ref RecordEdit record)
    {
        WrongKind = record.Kind != RecordKind.SortedSet;
        if (WrongKind)
            return;
        HiddenRanks hidden = HiddenRanks.Of(ref record);
        foreach (GeoHash cell in shape.Cells())
        {
            if (limit > 0 && Matches.Count >= limit)
                return;
            Take(ref record, cell.Scores, hidden);
        }
    }

    private readonly void Take(ref RecordEdit record, (double Low, double High) scores, in HiddenRanks hidden)
    {
        var walk = default(SortedWalk);
        walk.Begin(ref record, new SortBound { Kind = BoundKind.Score, Score = scores.Low }, hidden);
        while (walk.Next(ref record) && walk.Score < scores.High)
        {
            GeoPoint point = GeoHash.PointOf(walk.Score);
            if (!shape.Has(point, out double distance))
                continue;
            Matches.Add(new GeoMatch(walk.Span.ToArray(), walk.Score, point, distance));
            if (limit > 0 && Matches.Count >= limit)
                return;
        }
    }
}
