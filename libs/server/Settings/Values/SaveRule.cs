namespace Garnet.Server;

/// <summary>Save after this many seconds if there were at least this many changes. A class, as arrays of structs of ours make a start compile.</summary>
public sealed record SaveRule(long Seconds, long Changes);
