namespace Garnet.Types.Geo;

/// <summary>An area within straight lines of a map, as GEOSEARCH BYPOLYGON draws it; what lies on a line counts as a ray to the east finds it.</summary>
public sealed class GeoPolygon(GeoPoint[] corners)
{
    public const int CornersMin = 3;

    /// <summary>The mean of the corners, from which distances are told.</summary>
    public GeoPoint Centre { get; } =
        new(corners.Average(static corner => corner.Longitude), corners.Average(static corner => corner.Latitude));

    /// <summary>A rectangle that has all of it inside.</summary>
    public GeoShape Cover()
    {
        double west = corners.Min(static corner => corner.Longitude), east = corners.Max(static corner => corner.Longitude);
        double south = corners.Min(static corner => corner.Latitude), north = corners.Max(static corner => corner.Latitude);
        double widest = south <= 0 && north >= 0 ? 0 : Math.Min(Math.Abs(south), Math.Abs(north)); // where a degree is the longest way
        return new GeoShape
        {
            Centre = new GeoPoint((west + east) / 2, (south + north) / 2),
            IsBox = true,
            Width = new GeoPoint(west, widest).DistanceTo(new GeoPoint((west + east) / 2, widest)) * 2,
            Height = new GeoPoint(west, south).DistanceTo(new GeoPoint(west, north)),
            Metres = 1,
        };
    }

    /// <summary>True if a ray from the place leaves it: it meets an odd number of sides.</summary>
    public bool Has(GeoPoint point)
    {
        bool isInside = false;
        GeoPoint before = corners[^1];
        foreach (GeoPoint corner in corners)
        {
            bool crosses = corner.Latitude > point.Latitude != before.Latitude > point.Latitude;
            double east = (before.Longitude - corner.Longitude) * (point.Latitude - corner.Latitude) / (before.Latitude - corner.Latitude);
            if (crosses && point.Longitude < east + corner.Longitude)
                isInside = !isInside;
            before = corner;
        }

        return isInside;
    }
}
