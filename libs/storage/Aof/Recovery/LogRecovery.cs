using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Reading;
using Garnet.Common;
using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Aof.Recovery;

/// <summary>
/// Replays a log behind a snapshot and decides how it ends. Data batches go to the workers without a barrier between them, for
/// lanes are independent; operations on the whole store, and a change of what the lanes mean, wait for all that came before. That is another layout, or
/// another term: each run of a server has one of its own, and its databases other ids, which a key's hash, and so its lane, depends on.
/// </summary>
internal sealed class LogRecovery : IDisposable
{
    private readonly IDisk _disk;
    private readonly Manifest _manifest;
    private readonly Store _store;
    private readonly RecoverySettings _settings;
    private readonly LogReader _reader;
    private readonly ReplayWorkers _workers;
    private readonly StoreSession _session;
    private readonly EntryReplayer _ordered;
    private readonly List<string> _messages = [], _notes = [];
    private readonly List<TermStart> _terms = [];
    private (uint Lanes, ulong Seed) _layout;
    private uint _term;

    public LogRecovery(IDisk disk, Manifest manifest, Store store, ReplayTable table, RecoverySettings settings, ulong after)
    {
        _disk = disk;
        _manifest = manifest;
        _store = store;
        _settings = settings;
        _reader = new LogReader(disk, manifest.Sublogs, after);
        _workers = new ReplayWorkers(store, table, Math.Max(1, settings.Threads), losses: settings.Losses);
        _session = store.OpenSession();
        _session.NowMs = 0; // nothing expires by the replayer's own clock
        _ordered = new EntryReplayer(store, table, _session) { Losses = settings.Losses };
        _layout = ((uint)store.Partitions, manifest.HashSeed);
    }

    public LogReader Reader => _reader;
    public IReadOnlyList<string> Messages => _messages;
    public IReadOnlyList<string> Notes => _notes;
    public long Batches { get; private set; }
    public long Entries { get; private set; }
    public long Bytes { get; private set; }

    /// <summary>When the last batch was closed, by whoever closed it.</summary>
    public long SealedUnixUs { get; private set; }

    /// <summary>Where the log stood before the empty batches at its end; null if there are none, or that is not known.</summary>
    public LogPosition? Filled { get; private set; }

    /// <summary>Terms that began before what is replayed.</summary>
    public IReadOnlyList<TermStart> TermsBefore { init => _terms.AddRange(value); }

    /// <summary>All terms whose beginnings are known, the last of them.</summary>
    public IReadOnlyList<TermStart> Terms => _terms;

    /// <summary>The term in which the snapshot was taken, 0 without one.</summary>
    public uint SnapshotTerm { get; init; }

    /// <summary>
    /// Term of the last batch. Where nothing was replayed, the file to come says in which term it was to be written, and that may be
    /// a later one; so may the snapshot.
    /// </summary>
    public uint LastTerm()
    {
        if (_term != 0)
            return _term;
        using var last = new LogReader(_disk, _manifest.Sublogs, Math.Max(_reader.LastBatch, 1) - 1);
        if (last.Next() && last.LastBatch == _reader.LastBatch)
            return last.LastTerm;
        return SnapshotTerm == 0 ? _reader.LastTerm : Math.Min(SnapshotTerm, _reader.LastTerm);
    }

    /// <summary>Replays it to its end; <paramref name="kind"/> is what that is called for people.</summary>
    public void Replay(JobProgress progress, string kind)
    {
        progress.Begin(kind, 0); // what the snapshot has is passed over first
        bool isThere = _reader.Next();
        progress.Begin(kind, isThere ? BytesLeft() : 0);
        for (; isThere; isThere = _reader.Next())
        {
            MeetLayout();
            MeetContent();
            if (_reader.Kind == BatchKind.Data)
                AddData();
            else
                ApplyAlone();
            Batches++;
            foreach (SublogCursor cursor in _reader.Cursors)
            {
                long bytes = cursor.Part.End - cursor.Part.Offset;
                Entries += cursor.Part.Header.Entries;
                Bytes += bytes;
                progress.Add(bytes);
            }
        }
        _workers.Drain();
    }

    /// <summary>Judges the end; throws if the log is damaged and damage is refused. Nothing on disk is changed.</summary>
    public TailScan JudgeEnd()
    {
        LogFailure failure = _reader.Failure!;
        TailScan tail = TailScan.Of(_disk, _reader, _manifest);
        if (failure.Kind == LogFailureKind.Newer)
            throw new GarnetException(ExitKind.Data, $"the log cannot be read: {Place(failure)}", failure.Reason,
                "Start the version of the server that wrote it.");
        if (tail.IsDamage && _settings.OnCorruption == CorruptionPolicy.Refuse)
            throw new GarnetException(ExitKind.Data, $"the log is damaged: {Place(failure)}", $"{failure.Reason}, and {tail.Evidence}",
                (failure.Kind == LogFailureKind.Missing ? "Put back what is missing; or, to" : "To") +
                $" go on with what lies before it, up to batch {_reader.LastBatch}, set aof-on-corruption to truncate " +
                "(the damaged files are kept), or run 'garnet-server repair'.");
        string place = $"{Place(failure)}: {failure.Reason}";
        if (tail.IsDamage)
            _messages.Add($"The log was damaged: {place}, and {tail.Evidence}. It was cut " +
                $"there{(tail.Loss is { Length: > 0 } loss ? $", which lost {loss}" : "")}.");
        else if (tail.HasRest)
            _messages.Add($"The log ended in an interrupted write: {place}. It was cut there.");
        return tail;
    }

    public void Dispose()
    {
        _workers.Dispose();
        _session.Dispose();
        _reader.Dispose();
    }

    // From the batch that was just read on. Room that was set aside is not counted, as far as can be told.
    private long BytesLeft()
    {
        long bytes = 0;
        foreach (SublogCursor cursor in _reader.Cursors)
        {
            bytes += cursor.Part.End - cursor.Part.Offset - cursor.Offset;
            for (int i = cursor.FileIndex; i < cursor.Files.Count; i++) bytes += LogFiles.DataBytes(_disk, cursor.Files[i].Name);
        }
        return bytes;
    }

    private void AddData()
    {
        ReplayBlock block = _workers.Open();
        foreach (SublogCursor cursor in _reader.Cursors) block.Add(in cursor.Part);
        if (block.IsFull)
            _workers.Submit();
    }

    private void ApplyAlone()
    {
        _workers.Drain();
        ReplayBlock block = _workers.Open();
        block.Add(in _reader.Cursors[0].Part);
        if (_reader.Kind == BatchKind.Control)
            EntryReplayer.ApplyControl(_store, block);
        else
            _ordered.Apply(block, worker: 0, workers: 1);
        block.Clear();
    }

    private void MeetContent()
    {
        if (_reader.Cursors.Any(static cursor => cursor.Part.Header.Entries > 0))
            Filled = null;
        else if (_term != 0)
            Filled ??= new LogPosition(_term, _reader.LastBatch - 1,
                [.. _reader.Cursors.Select(static cursor => cursor.Part.Header.PreviousCrc)]);
        MeetTerm(_reader.Cursors[0].Part.Header.Term, _reader.Cursors[0].Part.Header.Owner);
        SealedUnixUs = (long)_reader.Cursors[0].Part.Header.SealedUnixUs;
    }

    private void MeetTerm(uint term, uint owner)
    {
        uint before = _term != 0 ? _term : SnapshotTerm;
        bool isKnown = _terms.Count > 0 && _terms[^1].Term >= term, isFirst = before == 0 && _reader.LastBatch == 1;
        if (!isKnown && (isFirst || (before != 0 && term != before)))
            _terms.Add(new TermStart(term, _reader.LastBatch, isFirst ? term : before) { Owner = owner });
        else if (_terms.Count > 0 && _terms[^1].Term == term && _terms[^1].Owner == 0)
            _terms[^1] = _terms[^1] with { Owner = owner };
        if (_terms.Count > TermStart.KeptMax)
            _terms.RemoveAt(0);
        if (_term != 0 && _term != term)
            _workers.Drain();
        _term = term;
    }

    private void MeetLayout()
    {
        foreach (SublogCursor cursor in _reader.Cursors)
        {
            ref LogPart part = ref cursor.Part;
            if (part.Layout.Lanes == _layout.Lanes && part.Layout.HashSeed == _layout.Seed)
                continue;
            if (!_settings.ReloadsForeignLayout)
                throw new GarnetException(ExitKind.Configuration, $"the log has another layout: {part.File}",
                    $"it was written with {part.Layout.Lanes} lanes, and the store has {_store.Partitions}",
                    "Allow foreign layouts, or give the store as many partitions.");
            _workers.Drain();
            _layout = (part.Layout.Lanes, part.Layout.HashSeed);
            _notes.Add($"From batch {part.Header.Batch} on the log is " +
                $"{(part.Layout.HashSeed == _manifest.HashSeed ? "this server's own" : "of another server, which was followed then,")} " +
                $"with {part.Layout.Lanes} partitions; nothing is wrong with that");
        }
    }

    private string Place(LogFailure failure) =>
        $"{_disk.Path}/{failure.File}{(failure.Kind == LogFailureKind.Missing ? "" : $", offset {failure.Offset}")}, batch {failure.Batch}";
}
