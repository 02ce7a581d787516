namespace Garnet.Aof.Format;

/// <summary>
/// The file of a sublog that its manifest names: the last one that may hold what was acknowledged, with the checksum of its header as it is
/// without a tail, and the length that it has at least. <paramref name="FirstBatch"/> 0 = the sublog has none.
/// </summary>
public readonly record struct NamedLog(ulong FirstBatch, uint HeaderCrc, long Bytes);
