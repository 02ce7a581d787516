using System.Runtime.CompilerServices;
using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Lanes;
using Garnet.Aof.Shipping;
using Garnet.Aof.Writing;
using Garnet.Common.Faults;
using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Aof;

/// <summary>
/// The write side of the append-only file. A change goes to the lane of its partition (rules L in <see cref="LaneSet"/>),
/// the group committer closes batches (rules S in <see cref="GroupCommitter"/>), a writer per sublog puts them into files and makes them
/// durable (rules W in <see cref="Sublog"/>, <see cref="SegmentWriter"/>, <see cref="LogState"/>).
/// Order of use: construct, open the store with it as its log, <see cref="Attach"/>, recover, <see cref="Start"/>, switch
/// the store's logging on, serve, <see cref="Stop"/>. Format: website/docs/format/aof.md.
/// </summary>
public sealed class AppendOnlyLog : IWriteLog, IDisposable
{
    private readonly AofSettings _settings;
    private readonly IDisk _disk;
    private readonly IClock _clock;
    private readonly ChunkPool _pool = new();
    private readonly Backlog? _backlog;
    private readonly SegmentList _segments;
    private Store? _store;
    // Written once, by Start.
    private LaneSet _lanes = null!;
    private GroupCommitter _committer = null!;
    private LogState _state = new(1, 0);
    private Sublog[] _sublogs = [];
    private ulong _lastOfEarlierRuns;
    private bool _stopped;

    private bool _follows;

    /// <summary>Touches nothing; usable as a log after <see cref="Start"/>. <paramref name="backlog"/> is told of every batch.</summary>
    public AppendOnlyLog(AofSettings settings, IDisk disk, IClock clock, Backlog? backlog = null)
    {
        _backlog = backlog;
        _settings = settings;
        _disk = disk;
        _clock = clock;
        _segments = new SegmentList(disk);
    }

    /// <summary>
    /// Raised by whoever wrote, a writer's thread or one in <see cref="TryWrite"/>, whenever <see cref="Written"/>, <see cref="Durable"/>, <see cref="Poison"/> or
    /// <see cref="Stalled"/> moved. Handlers must be quick and must not throw.
    /// </summary>
    public event Action? Advanced;

    /// <summary>
    /// Names files in the manifest (log.W12): those of the sublogs from the one of the number on. May throw <see cref="DiskException"/>.
    /// </summary>
    public Action<int, NamedLog[]>? Names { get; init; }

    /// <summary>Why the log before this one was lost: then this one is from its beginning.</summary>
    public string? Lost { get; init; }

    /// <inheritdoc/>
    public ulong Batch
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _lanes.Batch;
    }

    /// <summary>The last batch handed to the files of all sublogs.</summary>
    public ulong Written => _state.Written;

    /// <summary>
    /// The last batch that is durable in all sublogs. Under <see cref="SyncPolicy.No"/> that is one that somebody asked for
    /// (<see cref="RequireSync"/>), or with which a file ended.
    /// </summary>
    public ulong Durable => _state.Durable;

    /// <summary>More than <see cref="AofSettings.StagingBytesMax"/> wait for the disk: let writers wait before they take locks.</summary>
    public bool IsFull => _pool.StagedBytes > _settings.StagingBytesMax;

    /// <summary>Not null: the log is lost, for the cause named, and writes must be refused until the process ends.</summary>
    public string? Poison => _state.Poison;

    /// <summary>
    /// Not null: the disk is full, as the text says. What was appended is kept, and written when there is space; that is tried
    /// every 100 ms and by <see cref="Retry"/>.
    /// </summary>
    public string? Stalled => _state.Stalled;

    /// <summary>Names the store whose changes come here; before <see cref="Start"/>.</summary>
    public void Attach(Store store) => _store = store;

    /// <summary>Creates the first segment files, for the batch after the last recovered one, and starts the threads.</summary>
    /// <exception cref="DiskException">A file cannot be created.</exception>
    public void Start(AofStart start)
    {
        Open(start);
        _committer.Start();
        foreach (Sublog sublog in _sublogs) sublog.Start();
    }

    /// <summary>
    /// Starts as the log of a replica: nothing is written to lanes and nothing is closed here, <see cref="Receive"/> takes the
    /// batches of the primary. What <paramref name="start"/> says of lanes and seed is the primary's.
    /// </summary>
    /// <exception cref="DiskException">A file cannot be created.</exception>
    public void Follow(AofStart start)
    {
        Open(start, follows: true);
        foreach (Sublog sublog in _sublogs) sublog.Start();
    }

    /// <summary>Closes a batch in the term the log was started with, an empty one if nothing was written, for others to know of the term.</summary>
    public void MarkTerm() => _committer.Mark();

    /// <summary>
    /// Takes the next batch of the primary, whole and checked, in the order of its numbers; it is held until it is laid out.
    /// </summary>
    public void Receive(BatchBytes batch)
    {
        Check.That(_follows && batch.Batch == _lanes.Batch && batch.Parts == _sublogs.Length,
            "log.W9 a batch received follows the one before it");
        _lanes.MoveTo(batch.Batch + 1);
        for (int i = 0; i < _sublogs.Length; i++)
        {
            SealedPart part = _sublogs[i].Rent();
            part.Reset(batch, i);
            _pool.Account(part.Bytes);
            _sublogs[i].Enqueue(part, wakes: true);
        }
    }

    /// <summary>Where batches are written, and into how many sublogs; for whoever reads them back.</summary>
    public (IDisk Disk, int Sublogs) Files => (_disk, _sublogs.Length);

    /// <summary><see cref="Start"/> or <see cref="Follow"/> without threads: whoever calls it gives group committer and sublogs their turns.</summary>
    public void Open(AofStart start, bool follows = false)
    {
        Check.That(_store != null && (follows || _store.Partitions == start.Lanes), "log.L1 the lanes are the store's partitions");
        _follows = follows;
        bool goesOn = start.LastHeaderCrcs.Count == _settings.SublogCount;
        _backlog?.Continue(goesOn ? start.Position : new LogPosition(0, start.LastBatch, new uint[_settings.SublogCount]), start.Filled);
        int sublogs = _settings.SublogCount;
        _disk.Expect(sublogs);
        _lastOfEarlierRuns = start.LastBatch;
        _segments.Load();
        _state = new LogState(sublogs, start.LastBatch);
        if (Lost is not null)
            _state.Fail(Lost);
        _state.Advanced += () => Advanced?.Invoke();
        _lanes = new LaneSet(start.Lanes, start.LastBatch + 1, _settings.BatchBytes, _pool);
        _committer = new GroupCommitter(_settings, _clock, _store, _lanes, _pool, _state);
        // A file without a batch is made anew, and in between it is not there.
        if (Enumerable.Range(0, sublogs).Any(i => _segments.Has(i, start.LastBatch + 1)))
            Names?.Invoke(0, new NamedLog[sublogs]);
        _sublogs = OpenSublogs(sublogs, start);
        _committer.Attach(_sublogs);
    }

    /// <summary>Who has turns after <see cref="Open"/>: the group committer, then each sublog.</summary>
    public int Turners => 1 + _sublogs.Length;

    /// <summary>One of them does what there is to do.</summary>
    public void Turn(int turner)
    {
        if (turner > 0)
            _sublogs[turner - 1].Turn();
        else if (!_follows)
            _committer.Turn();
    }

    internal GroupCommitter GroupCommitter => _committer;
    internal IReadOnlyList<Sublog> Sublogs => _sublogs;

    /// <inheritdoc/>
    public bool IsOver => Volatile.Read(ref _stopped) || Poison is not null;

    /// <inheritdoc/>
    public long StepBytesMax => _settings.StepBytesMax;

    /// <inheritdoc/>
    public bool TryAnnounce(ulong batch, long bytes, bool force = false) => _lanes.TryAnnounce(batch, bytes, force);

    /// <inheritdoc/>
    public Span<byte> Reserve(int partition, ulong batch, in KeyRef key, int bytesMax) => _lanes.Reserve(partition, batch, key, bytesMax);

    /// <inheritdoc/>
    public void Append(int partition, ulong batch, byte opId, int database, in KeyRef key, int argumentBytes) =>
        _lanes.Append(partition, batch,
            new EntryHeader((uint)(EntryHeader.Bytes + key.Length + argumentBytes), opId, (ushort)key.Length, database));

    /// <inheritdoc/>
    public void Hold() => _committer.Hold();

    /// <inheritdoc/>
    public ulong Close() => _committer.Close();

    /// <inheritdoc/>
    public void Control(byte opId, ReadOnlySpan<byte> arguments) => _committer.Control(opId, arguments);

    /// <inheritdoc/>
    public ulong CloseOrdered() => _committer.CloseOrdered();

    /// <inheritdoc/>
    public void Release() => _committer.Release();

    /// <summary>To be called at the end of a round that wrote something; a fence and a read while the group committer is at work.</summary>
    public void Nudge()
    {
        if (!_follows)
            _committer.Nudge();
    }

    /// <summary>
    /// Closes what is open and writes it, on the caller's thread: what was changed before is then with the system, and the end of
    /// the process cannot take it; under <see cref="SyncPolicy.Always"/> it is durable. False if that is for the log's own threads, because
    /// it would wait for a disk, because of a full or failed disk, a file that must be changed, or because somebody else is just at it.
    /// </summary>
    public bool TryWrite()
    {
        if (_settings.Sync == SyncPolicy.Always && !Array.TrueForAll(_sublogs, static sublog => sublog.KeepsOnTheSpot))
            return false;
        if (!_committer.TryTurn(wakes: false))
            return false;
        bool all = true;
        foreach (Sublog sublog in _sublogs) all &= sublog.TryWrite();
        return all;
    }

    /// <summary>
    /// Somebody waits for the batch: it is closed and written by the caller if that is a copy (<see cref="TryWrite"/>), else soon.
    /// </summary>
    public void Demand(ulong batch)
    {
        if (!_follows && !TryWrite())
            _committer.Demand(batch);
    }

    /// <summary>Somebody waits until the batch is durable, and asks for the sync where the policy has none that comes by itself.</summary>
    public void RequireSync(ulong batch)
    {
        if (_settings.Sync == SyncPolicy.No)
        {
            foreach (Sublog sublog in _sublogs) sublog.RequireSync(batch);
        }
        Demand(batch);
    }

    /// <summary>Tries at once to write what a full disk refused, and looks at clock and policy again.</summary>
    public void Retry()
    {
        _committer.Wake();
        foreach (Sublog sublog in _sublogs) sublog.Wake();
    }

    /// <summary>Deletes the segment files all of whose batches are below <paramref name="before"/>, never one that is written.</summary>
    /// <exception cref="DiskException">A file cannot be deleted; those deleted before are gone.</exception>
    public void Truncate(ulong before) => _segments.Truncate(before, _sublogs.Length, _lastOfEarlierRuns);

    /// <summary>Figures of the moment.</summary>
    public AofFigures Figures()
    {
        if (_sublogs.Length == 0)
            return new AofFigures();
        (int segments, long segmentBytes, ulong firstBatch) = _segments.Figures(_sublogs.Length);
        return new AofFigures
        {
            Batches = _committer.Batches,
            Entries = _committer.Entries,
            BytesWritten = _sublogs.Sum(static sublog => sublog.BytesWritten),
            Writes = _sublogs.Sum(static sublog => sublog.Writes),
            Syncs = _sublogs.Sum(static sublog => sublog.Syncs),
            LastSyncUs = _sublogs.Max(static sublog => sublog.LastSyncUs),
            StagedBytes = _pool.StagedBytes,
            Segments = segments,
            SegmentBytes = segmentBytes,
            FirstBatch = firstBatch,
            LastError = _state.LastError,
            Domain = _sublogs.Min(static sublog => sublog.Domain),
        };
    }

    /// <summary>
    /// Closes the last batch, writes and syncs it and ends the threads; nobody writes any more. Afterwards
    /// <see cref="Durable"/> is the last batch, unless <see cref="Poison"/> says why not (a disk still full is a cause).
    /// </summary>
    public void Stop()
    {
        if (_stopped || _sublogs.Length == 0)
            return;
        Volatile.Write(ref _stopped, true);
        if (!_follows)
            _committer.Stop();
        foreach (Sublog sublog in _sublogs) sublog.Stop();
        if (!_follows && Array.TrueForAll(_sublogs, static sublog => sublog.HasRoomForProof) && _committer.Prove())
        {
            foreach (Sublog sublog in _sublogs) sublog.Finish();
        }
        if (_follows)
        {
            foreach (Sublog sublog in _sublogs) sublog.Prove();
        }
        foreach (Sublog sublog in _sublogs) sublog.Close(); // who follows another server cuts these files next
    }

    /// <summary>Stops and gives all memory back; the store is closed before, or its logging switched off.</summary>
    public void Dispose()
    {
        Stop();
        foreach (Sublog sublog in _sublogs) sublog.Dispose();
        _lanes?.Dispose();
        _pool.Dispose();
    }

    private Sublog[] OpenSublogs(int count, AofStart start)
    {
        var opened = new List<Sublog>();
        try
        {
            for (int i = 0; i < count; i++)
            {
                var pieces = new LogPieces(_disk, _segments, _pool, new SublogPlace(i, count, start, _follows), _backlog, Names);
                opened.Add(new Sublog(_settings, _clock, _state, pieces, _follows ? static () => { } : _committer.OnFree));
                opened[i].Open(start.LastBatch + 1);
            }
            Names?.Invoke(0, [.. opened.Select(static sublog => sublog.Named)]);
            return [.. opened];
        }
        catch (DiskException)
        {
            foreach (Sublog sublog in opened) sublog.Dispose();
            throw;
        }
    }
}
