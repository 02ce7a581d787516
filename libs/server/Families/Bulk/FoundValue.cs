namespace Garnet.Server.Families.Bulk;

/// <summary>A value of which bytes go to a client: how many, and how many there are; the version of the whole, if that is not what goes.</summary>
internal readonly record struct FoundValue(int Count, long Total, ulong? Version);
