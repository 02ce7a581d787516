using System.Globalization;
using System.Text;
using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Common.Time;

namespace Garnet.Migration;

/// <summary>
/// The source's changes: takes commands from its connection, keeps count of the bytes, which is how source and replica say where they are, and puts
/// what changes something into batches.
/// </summary>
internal sealed unsafe class ChangeReader(SourceLink source, ChangeBatch batch, Place from) : IDisposable
{
    private const int CommandsMax = 1000, ArgsMax = 16 << 20, NameBytesMax = 64;
    private const long BatchBytesMax = 1 << 20, LargeBytes = 64 << 20, ArgBytesMax = 512L << 20, CommandBytesMax = 1L << 30;

    private readonly RespParser _parser = new();
    private readonly ArgList _args = new();
    private readonly RespLimits _limits = new() { ArgsMax = ArgsMax, BulkBytesMax = ArgBytesMax };
    private long _needed, _received = from.Offset;
    private readonly SystemClock _clock = new();
    private int _database = from.Database;
    private TargetTimes _times = from.Times;
    private bool _isWithin;

    /// <summary>Up to here the target has answered that all is done.</summary>
    internal long Applied { get; private set; } = from.Offset;

    /// <summary>Commands that were applied.</summary>
    internal long Commands { get; private set; }

    /// <summary>Commands that have given a key another name or database.</summary>
    internal long Moves { get; private set; }

    /// <summary>Commands that somebody must have sent: not messages, nor what a source deletes because it is due.</summary>
    internal long Writes { get; private set; }

    /// <summary>Keys that are due before that get later times than the source says.</summary>
    internal long ShiftsUntilMs { get; set; } = long.MaxValue;

    /// <summary>Writes down which times the target's keys have, behind all that is applied; false in the middle of a transaction.</summary>
    internal bool TryMark(TargetTimes times)
    {
        if (_isWithin)
            return false;
        _times = times;
        batch.Write(new Place(source.History, _received, _database, times));
        Applied = _received;
        return true;
    }

    /// <summary>Applies what has come and is whole.</summary>
    internal void Apply()
    {
        try
        {
            while (TryNext())
            {
                if (!_isWithin && (batch.Commands >= CommandsMax || batch.Bytes >= BatchBytesMax))
                    Commit();
            }
            if (!_isWithin)
                Commit();
        }
        catch (Exception e) when (ByteLink.IsLost(e) && batch.Bytes > LargeBytes)
        {
            throw new IOException($"{e.Message.TrimEnd('.')}, in a transaction of {MigrationLines.Megabytes(batch.Bytes)} MB: "
                + "the target's client-query-buffer-limit may have to be higher", e);
        }
    }

    /// <summary>The target is a server of its own from here on.</summary>
    internal void Forget() => batch.Forget();

    /// <inheritdoc/>
    public void Dispose() => _args.Dispose();

    private void Commit()
    {
        int commands = batch.Commands;
        batch.Commit(new Place(source.History, _received, _database, _times));
        Commands += commands;
        Applied = _received;
        source.Has(Applied, now: false);
    }

    private bool TryNext()
    {
        ByteLink link = source.Bytes;
        if (link.Held == 0 || link.Held < _needed)
            return false;
        _args.Clear();
        byte* start = link.At;
        ParseResult found = *start is (byte)'*' or (byte)'\r' or (byte)'\n'
            ? _parser.Parse(start, start + link.Held, _args, in _limits) : ParseResult.Foreign;
        if (found == ParseResult.Incomplete)
        {
            _needed = _parser.BytesNeeded;
            return _needed <= CommandBytesMax && link.Held <= CommandBytesMax ? false : throw Unreadable("a command is larger than 1 GiB");
        }
        _needed = 0;
        if (found is not (ParseResult.Command or ParseResult.Nothing))
            throw Unreadable("no command begins");
        long bytes = _parser.Position - start, at = _received;
        _received += bytes;
        if (found == ParseResult.Command)
            Take(new ReadOnlySpan<byte>(start, checked((int)bytes)), at);
        link.Skip(bytes);
        return true;
    }

    private void Take(ReadOnlySpan<byte> command, long at)
    {
        string name = NameOf(_args.Items[0].Span);
        switch (name)
        {
            case "PING":
                break;
            case "REPLCONF":
                if (!_isWithin)
                    Commit();
                source.Has(Applied, now: true);
                break;
            case "SELECT":
                _database = _args.Count == 2
                    && int.TryParse(_args.Items[1].Span, NumberStyles.None, CultureInfo.InvariantCulture, out int database)
                    ? database : throw Unreadable("a SELECT names no database");
                break;
            case "MULTI":
                _isWithin = true;
                break;
            case "EXEC":
                _isWithin = false;
                break;
            default:
                Add(command, name, at);
                break;
        }
    }

    private void Add(ReadOnlySpan<byte> command, string name, long at)
    {
        string next = name is "FUNCTION" or "SCRIPT" && _args.Count > 1 ? NameOf(_args.Items[1].Span) : "";
        if (!AppliedCommands.Has(name, next))
        {
            string shown = Answer.Shown(Encoding.Latin1.GetBytes($"{name} {next}".TrimEnd()));
            throw Unreadable($"it has {shown}, which is no change of data that migrate knows");
        }
        if (name is "RENAME" or "RENAMENX" or "COPY" or "MOVE" or "SWAPDB")
            Moves++;
        if (name == "SWAPDB") // the place must not go with its database
            batch.Add(ByteLink.Encode("DEL"u8.ToArray(), Place.Key), "DEL", at, 0);
        if (!(name is "PUBLISH" or "SPUBLISH" || (name is "DEL" or "UNLINK" && _args.Count == 2)))
            Writes++;
        if (_times != TargetTimes.Real && ShiftedTimes.Rewrite(name, _args, _clock.UnixMs, ShiftsUntilMs) is { } other)
            batch.Add(other, name, at, _database);
        else
            batch.Add(command, name, at, _database);
    }

    private GarnetException Unreadable(string why) => new(ExitKind.Data, "the source's changes cannot be read",
        string.Create(CultureInfo.InvariantCulture, $"{why} (before offset {_received})"),
        $"What was applied is said by the target's key {Place.Name}; run again to go on there");

    private static string NameOf(ReadOnlySpan<byte> name) =>
        Encoding.Latin1.GetString(name[..Math.Min(name.Length, NameBytesMax)]).ToUpperInvariant();
}
