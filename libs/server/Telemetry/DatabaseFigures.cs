namespace Garnet.Server.Telemetry;

/// <summary>A database that holds something.</summary>
internal readonly record struct DatabaseFigures(int Number, long Keys, long Expiring);
