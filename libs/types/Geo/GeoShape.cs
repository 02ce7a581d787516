namespace Garnet.Types.Geo;

/// <summary>What is searched: a circle or a rectangle around a place, sizes in a unit of so many metres; or a polygon.</summary>
public struct GeoShape
{
    private const double MercatorMax = 20037726.37;
    private const int CellsMax = 9;

    public GeoPoint Centre;
    public bool IsBox;
    /// <summary>Of a circle.</summary>
    public double Radius;
    public double Width;
    public double Height;
    public double Metres;
    /// <summary>If set, all of the shape but the unit.</summary>
    public GeoPolygon? Polygon;

    /// <summary>True if the place lies inside; its distance in metres.</summary>
    public readonly bool Has(GeoPoint point, out double distance)
    {
        distance = 0;
        if (Polygon is not null)
        {
            distance = Polygon.Centre.DistanceTo(point);
            return Polygon.Has(point);
        }

        if (IsBox)
        {
            double across = point.DistanceTo(new GeoPoint(Centre.Longitude, point.Latitude));
            double along = point.DistanceTo(new GeoPoint(point.Longitude, Centre.Latitude));
            if (across > Width * Metres / 2 || along > Height * Metres / 2)
                return false;
        }

        distance = Centre.DistanceTo(point);
        return IsBox || distance <= Radius * Metres;
    }

    /// <summary>The cells that have everything inside, the middle one first, in the order in which Redis looks at them.</summary>
    public readonly List<GeoHash> Cells()
    {
        if (Polygon is not null)
            return Polygon.Cover().Cells();
        double reach = IsBox ? Math.Sqrt((Width / 2 * (Width / 2)) + (Height / 2 * (Height / 2))) : Radius;
        GeoBox bounds = Centre.Around((IsBox ? Width / 2 : Radius) * Metres, (IsBox ? Height / 2 : Radius) * Metres);
        GeoHash middle = GeoHash.Of(Centre, StepsFor(reach * Metres, Centre.Latitude));
        if (middle.Steps > 1 && !Reaches(middle, bounds))
            middle = GeoHash.Of(Centre, middle.Steps - 1);
        GeoBox area = middle.Box();
        bool excludes = middle.Steps >= 2;
        bool south = excludes && area.South < bounds.South, north = excludes && area.North > bounds.North;
        bool west = excludes && area.West < bounds.West, east = excludes && area.East > bounds.East;
        ReadOnlySpan<(int East, int North)> order = [(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)];
        var cells = new List<GeoHash>(CellsMax);
        int last = 0;
        for (int i = 0; i < order.Length; i++)
        {
            (int x, int y) = order[i];
            GeoHash cell = middle.Neighbour(x, y);
            bool useless = (south && y < 0) || (north && y > 0) || (west && x < 0) || (east && x > 0);
            // A huge circle: the neighbour in one direction is the one in another.
            if (useless || cell.IsNone || (last > 0 && cells[^1] == cell))
                continue;
            cells.Add(cell);
            last = i;
        }

        return cells;
    }

    // How often to halve so that the nine cells around a place cover so many metres; cells are narrower near the poles.
    private static int StepsFor(double metres, double latitude)
    {
        if (metres == 0)
            return GeoHash.StepsMax;
        int steps = 1;
        for (; metres < MercatorMax; metres *= 2)
            steps++;
        steps -= 2;
        double towardsPole = Math.Abs(latitude);
        steps -= towardsPole > 80 ? 2 : towardsPole > 66 ? 1 : 0;
        return Math.Clamp(steps, 1, GeoHash.StepsMax);
    }

    private static bool Reaches(GeoHash middle, GeoBox bounds) =>
        middle.Neighbour(0, 1).Box().North >= bounds.North && middle.Neighbour(0, -1).Box().South <= bounds.South
        && middle.Neighbour(1, 0).Box().East >= bounds.East && middle.Neighbour(-1, 0).Box().West <= bounds.West;
}
