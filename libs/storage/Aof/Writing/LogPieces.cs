using Garnet.Aof.Disk;
using Garnet.Aof.Lanes;
using Garnet.Aof.Shipping;

namespace Garnet.Aof.Writing;

/// <summary>What a sublog works with: the disk, the list of its files, the memory of what is staged, its place, and who else wants the batches.</summary>
internal readonly record struct LogPieces(IDisk Disk, SegmentList Segments, ChunkPool Pool, SublogPlace Place, Backlog? Backlog = null);
