using Garnet.Aof.Disk;
using Garnet.Common.Time;
using Tsavorite;
#pragma warning disable
namespace Garnet.Aof;
public enum SyncPolicy { No, EverySecond, Always }
public sealed class AofSettings { public int Sublogs { get; set; } public SyncPolicy Sync { get; set; } public long SegmentBytes { get; set; } = 64 << 20; public long StagingBytesMax { get; set; } = 64 << 20; }
public sealed record AofStart(uint Term, ulong LastBatch, IReadOnlyList<uint> LastHeaderCrcs, int Lanes, ulong HashSeed);
public sealed record AofFigures(ulong Batches, ulong Entries, long Bytes, long Syncs, long LastSyncUs, long StagedBytes, int Segments);
public sealed class Aof : IWriteLog, IDisposable
{
    public Aof(AofSettings settings, IDisk disk, IClock clock) { }
    public void Start(AofStart start, Store store) { }
    public ulong Batch => 1; public ulong Written => 0; public ulong Durable => 0;
    public event Action? Advanced;
    public void Nudge() { } public void Demand(ulong batch) { }
    public bool IsFull => false; public string? Poison => null; public string? Stalled => null;
    public void Truncate(ulong before) { } public AofFigures Figures() => null!; public void Stop() { } public void Dispose() { }
    public Span<byte> Reserve(int partition, ulong batch, in KeyRef key, int bytesMax) => new byte[bytesMax];
    public void Append(int partition, ulong batch, byte opId, int database, in KeyRef key, int argumentBytes) { }
    public void Hold() { } public ulong Close() => 0; public void Control(byte opId, ReadOnlySpan<byte> arguments) { } public void Release() { }
}
public enum CorruptionPolicy { Refuse, Truncate }
public sealed class RecoverySettings { public CorruptionPolicy OnCorruption { get; set; } public int Threads { get; set; } }
public sealed record RecoveryReport(uint Term, ulong LastBatch, IReadOnlyList<uint> LastHeaderCrcs, long Batches, long Entries, long Bytes, long ElapsedMs);
public sealed class JobProgress(string kind, IClock clock) { public long TotalBytes, DoneBytes; public long StartedMs; public string Format() => ""; public long RemainingMs => 0; }
public interface ISnapshotSource { }
public sealed record Manifest(ulong HashSeed, int Partitions);
public sealed class DataDirectory : IDisposable
{
    public static DataDirectory Open(string path, Func<string, IDisk> diskOf) => null!;
    public IDisk Disk => null!; public Manifest Manifest => null!;
    public RecoveryReport Recover(Store store, ReplayTable table, RecoverySettings settings, ISnapshotSource snapshots, JobProgress progress) => null!;
    public void PublishSnapshot(string name, ulong batch) { }
    public void Dispose() { }
}
public sealed class FileDisk(string p) : IDisk { public string Path => p; public IReadOnlyList<string> List() => []; public IDiskFile Create(string n, long b) => null!; public IDiskFile Open(string n) => null!; public void Rename(string a, string b) { } public void Delete(string n) { } public void SyncDirectory() { } }
