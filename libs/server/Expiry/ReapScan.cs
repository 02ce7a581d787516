using Tsavorite;

namespace Garnet.Server.Expiry;

/// <summary>A part of the walk for due entries: so many records of a namespace.</summary>
internal readonly record struct ReapScan(TimedPass Pass, uint Namespace, int Records);
