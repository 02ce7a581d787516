using System.Text;
using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Common.Time;
using Garnet.Types;
using Tsavorite;

namespace Garnet.Rdb;

/// <summary>
/// Fills an empty store from an RDB file of Redis. All or nothing: what cannot be understood ends the start, before anything of it
/// has been kept, so that no data is left behind unnoticed.
/// </summary>
public sealed unsafe class RdbImport : IDisposable
{
    private const int SlackBytes = 64, ReportEvery = 4096;
    private const int ModuleEnd = 0, ModuleFloat = 3, ModuleDouble = 4, ModuleString = 5;

    private readonly Store _store;
    private readonly EncodingSettings _encoding;
    private readonly RdbFile _file;
    private readonly JobProgress _progress;
    private readonly StoreSession _session;
    private readonly NativeArray<byte> _key = new(Store.KeyBytesMax + SlackBytes);
    private readonly List<byte[]> _functions = [];
    private readonly long _nowMs;
    private readonly int _databases;
    private uint _namespace;
    private long _expireAtMs;

    /// <summary>Fills the store, whose databases are numbered below <paramref name="databases"/>; keys that expire up to <paramref name="nowMs"/> are left out.</summary>
    public RdbImport(Store store, RdbFile file, EncodingSettings encoding, int databases, long nowMs, JobProgress progress)
    {
        _store = store;
        _encoding = encoding;
        _file = file;
        _progress = progress;
        _session = store.OpenSession();
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
        long told = 0;
        while (Take(ref from))
        {
            if (Keys % ReportEvery == 0)
            {
                _progress.Add(_file.OffsetOf(from.At) - told);
                told = _file.OffsetOf(from.At);
            }
        }

        from.Free();
        KeepFunctions();
    }

    /// <inheritdoc/>
    public void Dispose() => _key.Dispose();

    // One entry; false behind the last one.
    private bool Take(ref RdbCursor from)
    {
        byte* start = from.At;
        if (!from.TryByte(out byte first))
            throw Damage(start, "it ends in the middle");
        bool sound = true;
        switch ((RdbMark)first)
        {
            case RdbMark.End:
                return false;
            case RdbMark.Auxiliary:
                sound = from.TryString(out _) && from.TryString(out _);
                break;
            case RdbMark.Sizes:
                sound = from.TryLength(out _) && from.TryLength(out _);
                break;
            case RdbMark.SlotInfo:
                sound = from.TryLength(out _) && from.TryLength(out _) && from.TryLength(out _);
                break;
            case RdbMark.Database:
                sound = from.TryLength(out ulong database);
                Select(start, database);
                break;
            case RdbMark.ExpiryMs:
                sound = from.TryInt64(out _expireAtMs) && _expireAtMs > 0;
                break;
            case RdbMark.ExpirySeconds:
                sound = from.TryBytes(4, out byte* seconds);
                _expireAtMs = sound ? *(int*)seconds * 1000L : 0;
                break;
            case RdbMark.Idle:
                sound = from.TryLength(out _);
                break;
            case RdbMark.Frequency:
                sound = from.TryByte(out _);
                break;
            case RdbMark.Function:
                sound = from.TryString(out Arg source);
                _functions.Add(source.Span.ToArray());
                break;
            case RdbMark.Module:
                sound = TrySkipModule(ref from);
                Skipped++;
                break;
            default:
                TakeKey(ref from, start, (RdbType)first);
                break;
        }

        return sound ? true : throw Damage(start, "an entry is damaged");
    }

    private void TakeKey(ref RdbCursor from, byte* start, RdbType type)
    {
        if (!from.TryString(out Arg name))
            throw Damage(start, "a key is damaged");
        if (RdbDecoder.KindOf(type) == RecordKind.None)
            throw Damage(start, $"the key {Shown(name)} is of type {(int)type}, which is not known here");
        if (name.Length > Store.KeyBytesMax)
            throw Damage(start, $"a key is longer than {Store.KeyBytesMax} bytes, the most that fits here");
        name.Span.CopyTo(new Span<byte>(_key.Items, name.Length));
        KeyRef key = _store.Key(_key.Items, name.Length, _namespace);
        using var value = new RdbValue();
        if (!RdbDecoder.TryRead(ref from, type, value))
            throw Damage(start, $"the value of the key {Shown(new Arg { Bytes = _key.Items, Length = name.Length })} is damaged");
        long expireAtMs = _expireAtMs;
        _expireAtMs = 0;
        if (expireAtMs != 0 && expireAtMs <= _nowMs)
        {
            Expired++;
            return;
        }

        Outcome outcome = RdbStoring.Put(_session, in key, value, expireAtMs, _encoding);
        Fits(outcome);
        if (outcome != Outcome.Done)
            throw Damage(start, $"the key {Shown(new Arg { Bytes = _key.Items, Length = name.Length })} is too large");
        Keys++;
    }

    // Whether a library can be loaded shows when somebody asks for its functions; the log says so then.
    private void KeepFunctions()
    {
        if (_functions.Count == 0)
            return;
        using var record = new FunctionRecord();
        Fits(record.Write(_store, _session, _functions, out _));
    }

    private void Fits(Outcome outcome)
    {
        if (outcome == Outcome.OutOfMemory)
            throw new GarnetException(ExitKind.Configuration, $"cannot import {_file.Path}",
                $"it does not fit into maxmemory: {Keys} keys did", "Give more with --maxmemory");
    }

    private void Select(byte* start, ulong database)
    {
        if (database >= (ulong)_databases)
            throw Damage(start, $"it holds database {database}, and there are {_databases} here: raise --databases");
        _namespace = _store.Namespaces.Id((int)database);
    }

    // Says of itself where it ends: a number of the module, when it was written, then marked values.
    private static bool TrySkipModule(ref RdbCursor from)
    {
        if (!from.TryLength(out _))
            return false;
        while (from.TryLength(out ulong mark))
        {
            bool sound = mark switch
            {
                ModuleEnd => true,
                ModuleFloat => from.TryBytes(4, out _),
                ModuleDouble => from.TryBytes(8, out _),
                ModuleString => from.TryString(out _),
                < ModuleFloat => from.TryLength(out _),
                _ => false,
            };
            if (mark == ModuleEnd || !sound)
                return sound;
        }

        return false;
    }

    private GarnetException Damage(byte* at, string what) => _file.Damage(_file.OffsetOf(at), what);

    private static string Shown(Arg text) => Encoding.Latin1.GetString(text.Span[..Math.Min(text.Length, 64)]);
}
