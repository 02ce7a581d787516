using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using Garnet.Aof.Disk;
using Garnet.Common.Time;
using Garnet.Common;
using Garnet.Media;
using Tsavorite;

namespace Garnet.Aof.Snapshots;

/// <summary>
/// Checks and loads snapshot files. A damaged file, or one of another version, throws <see cref="SnapshotFileException"/> with
/// name and offset; the disk's own failures are <see cref="DiskException"/>. Every byte of the file is taken for hostile.
/// </summary>
public static class SnapshotReader
{
    /// <summary>
    /// Reads the whole file: header, every block's checksum and records, totals, footer, length; with <paramref name="threads"/> threads
    /// (0 = one per processor).
    /// </summary>
    public static SnapshotFileFacts Check(IDisk disk, string name, JobProgress? progress = null, int threads = 0)
    {
        ArgumentNullException.ThrowIfNull(disk);
        using SnapshotBlocks blocks = new(disk, name);
        progress?.Begin("checking a snapshot", blocks.Facts.FileBytes);
        object? tier = null; // a MediumId: all tables have the same
        long referencesToMemory = 0, segmentsInMemory = 0;
        Share(threads, blocks, () =>
        {
            using SnapshotBlock block = blocks.NewBlock();
            while (blocks.Next(block))
            {
                block.Verify();
                block.Expect(block.Kind switch
                {
                    SnapshotBlockKind.References => NamedSegments.CountReferences(block.Span),
                    SnapshotBlockKind.Segments => NamedSegments.CountSegments(block.Span),
                    _ => SnapshotLoader.Count(block.Span),
                });
                progress?.Add(block.Span.Length);
                if (block.Kind == SnapshotBlockKind.References)
                    Interlocked.Add(ref referencesToMemory, NamedSegments.CountReferencesToMemory(block.Span));
                if (block.Kind != SnapshotBlockKind.Segments)
                    continue;
                Volatile.Write(ref tier, NamedSegments.TierOf(block.Span));
                Interlocked.Add(ref segmentsInMemory, NamedSegments.CountSegmentsInMemory(block.Span));
            }
        });
        return blocks.Facts with
        {
            TierId = (MediumId)(tier ?? default(MediumId)), ReferencesToMemory = referencesToMemory, SegmentsInMemory = segmentsInMemory,
        };
    }

    /// <summary>
    /// Loads all records into a store whose log is off and whose expiry is paused (<see cref="SnapshotLoader"/>), with
    /// <paramref name="threads"/> threads (0 = one per processor). Checks as <see cref="Check"/> does while it goes: after an
    /// exception the store holds a part of the file and is of no use. What this server has sealed with <paramref name="key"/> is not judged.
    /// </summary>
    public static SnapshotLoad Load(
        IDisk disk, string name, Store store, JobProgress? progress = null, int threads = 0, DirectoryKey? key = null)
    {
        ArgumentNullException.ThrowIfNull(disk);
        ArgumentNullException.ThrowIfNull(store);
        NamedSegments named = Named(disk, name, new NamedSegments(store), key);
        Open(named, name);
        using SnapshotBlocks blocks = new(disk, name, key);
        Work work = new(blocks, store, named, progress);
        SnapshotLoad result = Load(name, named, blocks, work, progress, threads);
        if (result.Outcome == LoadOutcome.Done && !work.IsOwn && LoadedValues.Judge(store) is { } fault)
            throw new SnapshotFileException(name, SnapshotFileHeader.Bytes, fault);
        return result;
    }

    /// <summary>
    /// The same, but what the file names on a tier is read, and gone on without where that fails: <paramref name="losses"/> has it then. What is left is whole.
    /// </summary>
    public static SnapshotLoad LoadReadable(
        IDisk disk, string name, Store store, ColdLosses losses, JobProgress? progress = null, DirectoryKey? key = null)
    {
        ArgumentNullException.ThrowIfNull(disk);
        ArgumentNullException.ThrowIfNull(store);
        NamedSegments named = Named(disk, name, new NamedSegments(store) { Losses = losses }, key);
        Open(named, name);
        using SnapshotBlocks blocks = new(disk, name, key);
        Work work = new(blocks, store, named, progress);
        SnapshotLoad result = Load(name, named, blocks, work, progress, threads: 0);
        if (result.Outcome != LoadOutcome.Done)
            return result;
        Salvage.MakeWhole(store, losses);
        if (!work.IsOwn && LoadedValues.Judge(store) is { } fault)
            throw new SnapshotFileException(name, SnapshotFileHeader.Bytes, fault);
        return result;
    }

    private static SnapshotLoad Load(string name, NamedSegments named, SnapshotBlocks blocks, Work work, JobProgress? progress, int threads)
    {
        string what = named.IsRead ? "loading the snapshot, and judging what it names on the tier" : "loading the snapshot";
        progress?.Begin(what, blocks.Facts.FileBytes);
        Share(threads, blocks, work.Run);
        if (named.End() is { } twice)
            throw new SnapshotFileException(name, SnapshotFileHeader.Bytes, twice);
        return work.Result() with { DamagedHeads = named.Damaged };
    }

    /// <summary>
    /// What the file names of the store's tier is kept, since the file may be loaded instead of the newest at a later start. One that cannot be read is no way
    /// back, and keeps nothing; nor, unless it <paramref name="mustFit"/>, what lies behind the end of the tier's file.
    /// </summary>
    public static void Keep(IDisk disk, string name, Store store, bool mustFit = true)
    {
        ArgumentNullException.ThrowIfNull(store);
        try
        {
            NamedSegments named = Named(disk, name, new NamedSegments(store) { MustFit = mustFit }, key: null);
            named.Open(name, isLoaded: false);
            named.End();
        }
        catch (SnapshotFileException)
        {
            // A start that needs it says what is wrong with it.
        }
    }

    private static void Open(NamedSegments named, string name)
    {
        if (!named.Open(name, isLoaded: true))
            throw WrongTable(name);
    }

    private static SnapshotFileException WrongTable(string name) =>
        new(name, SnapshotFileHeader.Bytes, "its table of segments is not as it must be");

    // Goes from header to header: only the table is read.
    private static NamedSegments Named(IDisk disk, string name, NamedSegments named, DirectoryKey? key)
    {
        using SnapshotBlocks blocks = new(disk, name, key);
        if (!blocks.Facts.NamesSegments)
            return named;
        using SnapshotBlock block = blocks.NewBlock();
        while (blocks.Next(block, SnapshotBlockKind.Segments))
        {
            block.Verify();
            if (!named.Add(block.Span, block.IsOwn ? BlockOrigin.Own : BlockOrigin.Foreign))
                throw WrongTable(name);
        }
        return named;
    }

    // Of several faults the first in the file is told: the others may come of it.
    private static void Share(int threads, SnapshotBlocks blocks, Action work)
    {
        void Run()
        {
            try
            {
                work();
            }
            catch
            {
                blocks.GiveUp(); // the others need not go on
                throw;
            }
        }

        Task[] tasks = new Task[threads > 0 ? threads : Environment.ProcessorCount];
        for (int i = 0; i < tasks.Length; i++)
            tasks[i] = Task.Factory.StartNew(Run, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        try
        {
            Task.WaitAll(tasks);
        }
        catch (AggregateException failures)
        {
            ExceptionDispatchInfo.Throw(
                failures.InnerExceptions.MinBy(static failure => (failure as SnapshotFileException)?.Offset ?? -1)!);
        }
    }

    /// <summary>What the threads share.</summary>
    private sealed class Work(SnapshotBlocks blocks, Store store, NamedSegments named, JobProgress? progress)
    {
        private long _records, _bytes;
        private volatile bool _outOfMemory, _foreign;

        /// <summary>True if this server wrote all of the file: then pieces and those that name them belong together as well.</summary>
        public bool IsOwn => blocks.EndIsOwn && !_foreign;

        public SnapshotLoad Result() => new(
            _outOfMemory ? LoadOutcome.OutOfMemory : LoadOutcome.Done, blocks.Facts, _records, _bytes, store.Figures());

        public void Run()
        {
            using SnapshotLoader loader = new(store);
            using SnapshotBlock block = blocks.NewBlock();
            Gathered gathered = new();
            try
            {
                while (blocks.Next(block)) Load(loader, block, gathered);
                LoadGathered(loader, block, gathered);
            }
            finally
            {
                Interlocked.Add(ref _records, loader.Records);
                Interlocked.Add(ref _bytes, loader.Bytes);
            }
        }

        private void Load(SnapshotLoader loader, SnapshotBlock block, Gathered gathered)
        {
            if (block.Kind == SnapshotBlockKind.Segments)
                return; // read before
            BlockOrigin origin = block.IsOwn ? BlockOrigin.Own : BlockOrigin.Foreign;
            if (origin == BlockOrigin.Foreign)
            {
                block.Verify(); // a tag says more than a checksum
                _foreign = true;
            }
            bool refers = block.Kind == SnapshotBlockKind.References;
            _foreign |= refers && !named.Believes(origin);
            if (refers && named.Reads(origin))
            {
                block.Expect(named.CountNamed(block.Span));
                if (origin != gathered.Origin || gathered.IsFull)
                    LoadGathered(loader, block, gathered);
                gathered.Add(block, origin);
                return;
            }
            long before = loader.Records;
            LoadOutcome outcome = refers ? named.Load(block.Span, origin, loader) : loader.Load(block.Span, origin);
            if (HasRoom(outcome))
                block.Expect(outcome == LoadOutcome.Damaged ? -1 : loader.Records - before);
            progress?.Add(block.Span.Length);
        }

        // Told of the block that stands there, though it may be one of those before.
        private void LoadGathered(SnapshotLoader loader, SnapshotBlock block, Gathered gathered)
        {
            if (gathered.Span.Length == 0)
                return;
            long before = loader.Records;
            LoadOutcome outcome = named.Load(gathered.Span, gathered.Origin, loader);
            bool areAll = outcome == LoadOutcome.Done && loader.Records - before == gathered.Records;
            if (HasRoom(outcome))
                block.Expect(areAll ? block.Records : -1);
            progress?.Add(gathered.Span.Length);
            gathered.Clear();
        }

        private bool HasRoom(LoadOutcome outcome)
        {
            if (outcome != LoadOutcome.OutOfMemory)
                return true;
            _outOfMemory = true;
            blocks.GiveUp();
            return false;
        }
    }

    /// <summary>References of several blocks, of one thread.</summary>
    private sealed class Gathered
    {
        private const int BytesMax = 6 << 20; // half a million: with what looking at them takes, 35 MB for each thread

        private readonly List<byte> _bytes = [];

        public BlockOrigin Origin { get; private set; }

        public long Records { get; private set; }

        public bool IsFull => _bytes.Count >= BytesMax;

        public ReadOnlySpan<byte> Span => CollectionsMarshal.AsSpan(_bytes);

        public void Add(SnapshotBlock block, BlockOrigin origin)
        {
            _bytes.AddRange(block.Span);
            Origin = origin;
            Records += block.Records;
        }

        public void Clear()
        {
            _bytes.Clear();
            Records = 0;
        }
    }
}
