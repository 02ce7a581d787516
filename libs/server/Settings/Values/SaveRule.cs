namespace Garnet.Server;

/// <summary>Save after this many seconds if there were at least this many changes.</summary>
public sealed record SaveRule(long Seconds, long Changes);
