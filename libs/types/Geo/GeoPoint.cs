namespace Garnet.Types.Geo;

/// <summary>A place on the earth, in degrees.</summary>
public readonly record struct GeoPoint(double Longitude, double Latitude)
{
    private const double EarthRadius = 6372797.560856, DegreesToRadians = Math.PI / 180;

    /// <summary>Metres to another place, by the haversine formula on a sphere.</summary>
    public double DistanceTo(GeoPoint other)
    {
        double latitude = Latitude * DegreesToRadians, otherLatitude = other.Latitude * DegreesToRadians;
        double u = Math.Sin((otherLatitude - latitude) / 2);
        double v = Math.Sin(((other.Longitude * DegreesToRadians) - (Longitude * DegreesToRadians)) / 2);
        return 2 * EarthRadius * Math.Asin(Math.Sqrt((u * u) + (Math.Cos(latitude) * Math.Cos(otherLatitude) * v * v)));
    }

    /// <summary>The box around the place that has everything within so many metres east, west, north and south.</summary>
    public GeoBox Around(double eastMetres, double northMetres)
    {
        double latitudes = northMetres / EarthRadius / DegreesToRadians;
        // The side nearer to the pole is the one that spans more degrees.
        double widest = (Latitude < 0 ? Latitude - latitudes : Latitude + latitudes) * DegreesToRadians;
        double longitudes = eastMetres / EarthRadius / Math.Cos(widest) / DegreesToRadians;
        return new GeoBox(Longitude - longitudes, Latitude - latitudes, Longitude + longitudes, Latitude + latitudes);
    }
}
