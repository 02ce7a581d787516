namespace Garnet.Types.Geo;

/// <summary>
/// A cell of the grid that halves longitude and latitude so many times, as interleaved bits: latitude in the even ones. 26 times gives
/// the 52 bits that are the score of a member of a sorted set.
/// </summary>
public readonly record struct GeoHash(ulong Bits, int Steps)
{
    public const int StepsMax = 26;
    public const double LongitudeMax = 180, LatitudeMax = 85.05112878;

    private const ulong Even = 0x5555555555555555;

    /// <summary>True for the cell that is none.</summary>
    public bool IsNone => Bits == 0 && Steps == 0;

    /// <summary>The least score in the cell, and the least above it.</summary>
    public (double Low, double High) Scores => (Bits << (52 - (Steps * 2)), (Bits + 1) << (52 - (Steps * 2)));

    /// <summary>True if a place can be told on the grid.</summary>
    public static bool Covers(GeoPoint point) =>
        point.Longitude is >= -LongitudeMax and <= LongitudeMax && point.Latitude is >= -LatitudeMax and <= LatitudeMax;

    public static GeoHash Of(GeoPoint point, int steps, double latitudeMax = LatitudeMax)
    {
        double latitude = (point.Latitude + latitudeMax) / (2 * latitudeMax);
        double longitude = (point.Longitude + LongitudeMax) / (2 * LongitudeMax);
        return new GeoHash(Spread((uint)(latitude * (1UL << steps))) | Spread((uint)(longitude * (1UL << steps))) << 1, steps);
    }

    /// <summary>The middle of the cell with that score.</summary>
    public static GeoPoint PointOf(double score)
    {
        GeoBox box = new GeoHash((ulong)score, StepsMax).Box();
        return new GeoPoint(
            Math.Clamp((box.West + box.East) / 2, -LongitudeMax, LongitudeMax),
            Math.Clamp((box.South + box.North) / 2, -LatitudeMax, LatitudeMax));
    }

    /// <summary>The cell's edges.</summary>
    public GeoBox Box()
    {
        uint y = Gather(Bits), x = Gather(Bits >> 1);
        double cells = 1UL << Steps;
        return new GeoBox(
            -LongitudeMax + (x / cells * (2 * LongitudeMax)), -LatitudeMax + (y / cells * (2 * LatitudeMax)),
            -LongitudeMax + ((x + 1.0) / cells * (2 * LongitudeMax)), -LatitudeMax + ((y + 1.0) / cells * (2 * LatitudeMax)));
    }

    /// <summary>The cell so many to the east and to the north, around the world.</summary>
    public GeoHash Neighbour(int east, int north)
    {
        // At the very edge of the grid the cell itself lies one beyond: it stays there, as in Redis, until it moves.
        uint mask = (uint)((1UL << Steps) - 1), x = Gather(Bits >> 1), y = Gather(Bits);
        if (east != 0)
            x = (uint)(x + east) & mask;
        if (north != 0)
            y = (uint)(y + north) & mask;
        return new GeoHash(Spread(y) | Spread(x) << 1, Steps);
    }

    private static ulong Spread(uint value)
    {
        ulong bits = value;
        bits = (bits | bits << 16) & 0x0000FFFF0000FFFF;
        bits = (bits | bits << 8) & 0x00FF00FF00FF00FF;
        bits = (bits | bits << 4) & 0x0F0F0F0F0F0F0F0F;
        bits = (bits | bits << 2) & 0x3333333333333333;
        return (bits | bits << 1) & Even;
    }

    private static uint Gather(ulong bits)
    {
        bits &= Even;
        bits = (bits | bits >> 1) & 0x3333333333333333;
        bits = (bits | bits >> 2) & 0x0F0F0F0F0F0F0F0F;
        bits = (bits | bits >> 4) & 0x00FF00FF00FF00FF;
        bits = (bits | bits >> 8) & 0x0000FFFF0000FFFF;
        return (uint)(bits | bits >> 16);
    }
}
