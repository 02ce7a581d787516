using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Lanes;
using Garnet.Aof.Shipping;

namespace Garnet.Aof.Writing;

/// <summary>What a sublog works with: the disk, the list of its files, the memory of what is staged, its place, who else wants the batches, and who names the files
/// in the manifest (the first sublog, and its file and those of the next ones).</summary>
internal readonly record struct LogPieces(
    IDisk Disk, SegmentList Segments, ChunkPool Pool, SublogPlace Place, Backlog? Backlog = null, Action<int, NamedLog[]>? Names = null);
