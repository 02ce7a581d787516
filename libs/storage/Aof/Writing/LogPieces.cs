using Garnet.Aof.Disk;
using Garnet.Aof.Lanes;

namespace Garnet.Aof.Writing;

/// <summary>What a sublog works with: the disk, the list of its files, the memory of what is staged, and its place.</summary>
internal readonly record struct LogPieces(IDisk Disk, SegmentList Segments, ChunkPool Pool, SublogPlace Place);
