namespace Garnet.Types.Geo;

/// <summary>One member found by a search.</summary>
public readonly record struct GeoMatch(byte[] Member, double Score, GeoPoint Point, double Distance);
