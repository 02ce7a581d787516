namespace Garnet.Types.Geo;

/// <summary>A rectangle of degrees.</summary>
public readonly record struct GeoBox(double West, double South, double East, double North);
