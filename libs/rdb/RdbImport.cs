using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Common.Time;
using Garnet.Types;
using Garnet.Types.Collections;
using Tsavorite;

namespace Garnet.Rdb;

/// <summary>
/// Fills an empty store from an RDB file of Redis. All or nothing: what cannot be understood ends the start, before anything of it
/// has been kept, so that no data is left behind unnoticed.
/// </summary>
public sealed unsafe class RdbImport : IRdbEntries, IDisposable
{
    private const int SlackBytes = 64, ReportEvery = 4096;
    private const int LookMs = 100, LooksMax = 100; // for room

    private readonly Store _store;
    private readonly EncodingSettings _encoding;
    private readonly RdbFile _file;
    private readonly JobProgress _progress;
    private readonly StoreSession _session;
    private readonly RdbEntries _entries;
    private readonly object _room = new();
    private readonly List<byte[]> _functions = [];
    private readonly long _nowMs;
    private readonly int _databases;
    private uint _namespace;
    private KeyRef _last;
    private bool _isLastThere;
    private long _demotedBytes;
    private int _looks;

    /// <summary>Fills the store, whose databases are numbered below <paramref name="databases"/>; keys that expire up to <paramref name="nowMs"/> are left out.</summary>
    public RdbImport(Store store, RdbFile file, EncodingSettings encoding, int databases, long nowMs, JobProgress progress)
    {
        _store = store;
        _entries = new RdbEntries(this);
        _encoding = encoding;
        _file = file;
        _progress = progress;
        _session = store.OpenSession();
        _session.Room.Wait.OnRoom = WakeForRoom;
        _nowMs = nowMs;
        _databases = databases;
        _namespace = store.Namespaces.Id(0);
    }

    /// <summary>Keys that were put into the store.</summary>
    public long Keys { get; private set; }

    /// <summary>Keys that were left out since their time has come.</summary>
    public long Expired { get; private set; }

    /// <summary>Libraries of functions that were taken.</summary>
    public int Functions => _functions.Count;

    /// <summary>Data of modules that were left out.</summary>
    public long Skipped { get; private set; }

    /// <summary>Takes everything.</summary>
    /// <exception cref="GarnetException">The file is damaged, holds what is not known here, or memory ran out.</exception>
    public void Run()
    {
        _progress.Begin("checking an RDB file", _file.Bytes);
        _file.Check(_progress.Add);
        _progress.Begin("importing an RDB file", _file.Bytes);
        RdbCursor from = _file.Open();
        for (long told = 0, read = 0; ; read++)
        {
            byte* start = from.At;
            if (_entries.Take(ref from, out bool isEnd) is { } why)
                throw _file.Damage(_file.OffsetOf(start), why);
            if (isEnd)
                break;
            if (read % ReportEvery != 0)
                continue;
            _progress.Add(_file.OffsetOf(from.At) - told);
            told = _file.OffsetOf(from.At);
        }

        from.Free();
        KeepFunctions();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _entries.Dispose();
        _session.Dispose();
    }

    /// <inheritdoc/>
    string? IRdbEntries.Select(ulong database)
    {
        if (database >= (ulong)_databases)
            return $"it holds database {database}, and there are {_databases} here: raise --databases";
        _namespace = _store.Namespaces.Id((int)database);
        return null;
    }

    /// <inheritdoc/>
    string? IRdbEntries.Take(Arg name, RdbValue value, long expireAtMs)
    {
        _isLastThere = expireAtMs == 0 || expireAtMs > _nowMs;
        if (!_isLastThere)
        {
            Expired++;
            return null;
        }

        _last = _store.Key(name.Bytes, name.Length, _namespace);
        Outcome outcome;
        do
            outcome = RdbStoring.Put(_session, in _last, value, expireAtMs, _encoding);
        while (outcome == Outcome.OutOfMemory && AwaitsRoom(value.Kind == RecordKind.String ? value.String.Length : value.Bytes));
        Fits(outcome);
        if (outcome != Outcome.Done)
            return $"the key {RdbEntries.Shown(name)} is too large";
        Keys++;
        return null;
    }

    /// <inheritdoc/>
    string? IRdbEntries.TakeMemberTime(Arg member, long expireAtMs)
    {
        if (!_isLastThere)
            return null;
        using var padded = new NativeArray<byte>((long)member.Length + SlackBytes); // a hash reads behind the end
        member.Span.CopyTo(new Span<byte>(padded.Items, member.Length));
        var one = new Arg { Bytes = padded.Items, Length = member.Length };
        var retime = new RetimeEntries { Keys = new Operands(&one, 1), ExpireAtMs = expireAtMs };
        Outcome outcome;
        do
            outcome = _session.Edit(in _last, ref retime);
        while (outcome == Outcome.OutOfMemory && AwaitsRoom(0));
        Fits(outcome);
        return outcome == Outcome.Done && retime.Changed == 1 ? null : "a member expires that is not there";
    }

    /// <inheritdoc/>
    void IRdbEntries.TakeFunction(ReadOnlySpan<byte> source) => _functions.Add(source.ToArray());

    /// <inheritdoc/>
    void IRdbEntries.PassModule() => Skipped++;

    // Whether a library can be loaded shows when somebody asks for its functions; the log says so then.
    private void KeepFunctions()
    {
        if (_functions.Count == 0)
            return;
        using var record = new FunctionRecord();
        Fits(record.Write(_store, _session, _functions, out _));
    }

    // What came before goes to the tier, which may be slower than the file: true if it is to be tried again. The wait ends when nothing has gone there for some seconds.
    private bool AwaitsRoom(long bytes)
    {
        if (_store.Figures().Tier is not { } tier)
            return false;
        bool hasMoved = tier.DemotedBytes + tier.DemotedCleanBytes != _demotedBytes;
        (_demotedBytes, _looks) = (tier.DemotedBytes + tier.DemotedCleanBytes, hasMoved ? 0 : _looks + 1);
        if (_looks > LooksMax)
            return false;
        if (_session.Room.Ensure(bytes) && _looks == 0)
            return true;
        lock (_room)
        {
            _session.Room.Wait.Ask(bytes);
            Monitor.Wait(_room, LookMs);
        }

        return true;
    }

    private void WakeForRoom()
    {
        lock (_room) Monitor.PulseAll(_room);
    }

    private void Fits(Outcome outcome)
    {
        if (outcome == Outcome.OutOfMemory)
            throw new GarnetException(ExitKind.Configuration, $"cannot import {_file.Path}",
                $"it does not fit into maxmemory: {Keys} keys did", "Give more with --maxmemory, or a tier: --tier-path");
    }
}
