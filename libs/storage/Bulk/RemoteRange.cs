namespace Garnet.Bulk;

/// <summary>Bytes of a region of the other side.</summary>
public readonly record struct RemoteRange(RemoteRegion Region, ulong Offset, ulong Length);
