using Garnet.Aof.Disk;
using Garnet.Aof.Format;

namespace Garnet.Aof.Test.Reading;

/// <summary>What a log under construction looks like, and from where it goes on.</summary>
internal sealed record LogPlan(int Sublogs, int Lanes = 8, ulong Seed = 77, long FileBytes = 32 << 10)
{
    public uint Term { get; init; } = 1;
    /// <summary>The databases had other ids when it was written: each key stands in the lane that differs by these bits.</summary>
    public int LaneShift { get; init; }
    public ulong LastBatch { get; init; }
    public uint[]? Chain { get; init; }

    public static LogPlan After(AofStart start, LogPlan before) =>
        before with
        {
            Term = start.Term, LastBatch = start.LastBatch, Chain = [.. start.LastHeaderCrcs], Lanes = start.Lanes, Seed = start.HashSeed,
        };
}

/// <summary>
/// Writes valid logs straight from the format: batches are gathered, several may go into one write, each sublog rolls over to
/// a new file when its own is full.
/// </summary>
internal sealed class LogBuilder : IDisposable
{
    private const int FirstSealedUs = 1_000_000;

    private readonly IDisk _disk;
    private readonly LogPlan _plan;
    private readonly uint[] _chain;
    private readonly List<byte>[] _pending;
    private readonly IDiskFile?[] _files;
    private readonly long[] _ends;
    private readonly uint[] _pendingStart;
    private readonly ulong[] _pendingFirst;

    public LogBuilder(IDisk disk, LogPlan plan)
    {
        _disk = disk;
        _plan = plan;
        _chain = plan.Chain ?? new uint[plan.Sublogs];
        _pending = [.. Enumerable.Range(0, plan.Sublogs).Select(static _ => new List<byte>())];
        _files = new IDiskFile?[plan.Sublogs];
        _ends = new long[plan.Sublogs];
        _pendingStart = new uint[plan.Sublogs];
        _pendingFirst = new ulong[plan.Sublogs];
        Batch = plan.LastBatch;
        Durable = plan.LastBatch;
    }

    /// <summary>What the next part of each sublog names.</summary>
    public uint[] Chain => [.. _chain];
    /// <summary>The last batch gathered.</summary>
    public ulong Batch { get; private set; }
    /// <summary>The last batch synced in all sublogs.</summary>
    public ulong Durable { get; private set; }
    /// <summary>Where parts begin: file, offset, whole length, batch.</summary>
    public List<(string File, long Offset, int Bytes, ulong Batch)> Parts { get; } = [];

    /// <summary>Adds a batch: one operation on the whole store, changes of keys, or both in their order.</summary>
    public void Add(params IReadOnlyList<TestEntry> entries)
    {
        Batch++;
        BatchKind kind = !entries.Any(static entry => entry.IsControl) ? BatchKind.Data : entries.Count == 1 ? BatchKind.Control : BatchKind.Ordered;
        for (int sublog = 0; sublog < _plan.Sublogs; sublog++)
        {
            IEnumerable<TestEntry> own = entries.Where(entry => LaneOf(entry, kind) % _plan.Sublogs == sublog);
            AddPart(sublog, kind, [.. own.GroupBy(entry => LaneOf(entry, kind)).OrderBy(static lane => lane.Key)]);
        }
    }

    private int LaneOf(TestEntry entry, BatchKind kind) => kind == BatchKind.Ordered || entry.IsControl ? 0 : entry.Lane(_plan.Lanes) ^ _plan.LaneShift;

    /// <summary>Writes what has been gathered, with one write per sublog.</summary>
    public void Write()
    {
        for (int sublog = 0; sublog < _plan.Sublogs; sublog++)
        {
            byte[] bytes = new byte[(_pending[sublog].Count + 4095) & -4096];
            if (bytes.Length == 0) continue;
            _pending[sublog].CopyTo(bytes);
            _pending[sublog].Clear();
            if (_files[sublog] is null || _ends[sublog] + bytes.Length > _plan.FileBytes) RollOver(sublog);
            NoteParts(LogFileName.Of(sublog, _first[sublog]), _ends[sublog], bytes);
            _files[sublog]!.Write(_ends[sublog], bytes);
            _ends[sublog] += bytes.Length;
        }
    }

    /// <summary>Makes what was written durable.</summary>
    public void Sync()
    {
        foreach (IDiskFile? file in _files) file?.Sync();
        Durable = Batch;
    }

    public void Dispose()
    {
        foreach (IDiskFile? file in _files) file?.Dispose();
    }

    private readonly Dictionary<int, ulong> _first = [];

    private void AddPart(int sublog, BatchKind kind, List<IGrouping<int, TestEntry>> lanes)
    {
        List<byte> pending = _pending[sublog];
        if (pending.Count == 0) (_pendingStart[sublog], _pendingFirst[sublog]) = (_chain[sublog], Batch);
        byte[] body = Body(lanes);
        byte[] header = new byte[BatchHeader.Bytes];
        _chain[sublog] = new BatchHeader
        {
            Kind = kind, Term = _plan.Term, Batch = Batch, SealedUnixUs = FirstSealedUs + Batch, Part = (byte)sublog,
            Parts = (byte)_plan.Sublogs,
            Lanes = (ushort)lanes.Count, BodyBytes = (uint)body.Length, Entries = (uint)lanes.Sum(static lane => lane.Count()),
            PreviousCrc = _chain[sublog], BodyCrc = Crc32C.Of(body), DurableBatch = Durable,
        }.Write(header);
        while (pending.Count % BatchHeader.Bytes != 0) pending.Add(0);
        pending.AddRange(header);
        pending.AddRange(body);
    }

    private static byte[] Body(List<IGrouping<int, TestEntry>> lanes)
    {
        byte[][] entries = [.. lanes.Select(static lane => lane.SelectMany(EntryBytes).ToArray())];
        byte[] table = new byte[lanes.Count * LaneRow.Bytes];
        for (int i = 0; i < lanes.Count; i++)
            new LaneRow((ushort)lanes[i].Key, (uint)lanes[i].Count(), (uint)entries[i].Length).Write(table.AsSpan(i * LaneRow.Bytes));
        return [.. table, .. entries.SelectMany(static bytes => bytes)];
    }

    private static byte[] EntryBytes(TestEntry entry)
    {
        byte[] key = System.Text.Encoding.ASCII.GetBytes(entry.Key), arguments = entry.Arguments(), header = new byte[EntryHeader.Bytes];
        new EntryHeader((uint)(EntryHeader.Bytes + key.Length + arguments.Length), entry.Operation, (ushort)key.Length,
            entry.Database).Write(header);
        return [.. header, .. key, .. arguments];
    }

    private void RollOver(int sublog)
    {
        _files[sublog]?.Sync();
        _files[sublog]?.Dispose();
        ulong first = _pendingFirst[sublog];
        _first[sublog] = first;
        IDiskFile file = _disk.Create(LogFileName.Of(sublog, first), _plan.FileBytes);
        byte[] block = new byte[FileHeader.Bytes];
        new FileHeader
        {
            Sublog = (byte)sublog, Sublogs = (byte)_plan.Sublogs, FirstBatch = first, Term = _plan.Term, Lanes = (uint)_plan.Lanes,
            HashSeed = _plan.Seed, PreviousCrc = _pendingStart[sublog],
        }.Write(block);
        file.Write(0, block);
        file.Sync();
        _disk.SyncDirectory();
        _files[sublog] = file;
        _ends[sublog] = FileHeader.Bytes;
    }

    private void NoteParts(string file, long at, byte[] bytes)
    {
        for (int offset = 0; BatchHeader.TryRead(bytes.AsSpan(offset), out BatchHeader header, out _) == HeaderState.Whole;)
        {
            int whole = BatchHeader.Bytes + (int)header.BodyBytes;
            Parts.Add((file, at + offset, whole, header.Batch));
            offset = (offset + whole + BatchHeader.Bytes - 1) / BatchHeader.Bytes * BatchHeader.Bytes;
            if (offset >= bytes.Length) return;
        }
    }
}
