using System.Globalization;
using System.Text;
using Garnet.Common;
using Garnet.Common.Resp;

namespace Garnet.Migration;

/// <summary>
/// The source's changes: takes commands from its connection, keeps count of the bytes, which is how source and replica say where they are, and puts
/// what changes something into batches.
/// </summary>
internal sealed unsafe class ChangeReader(SourceLink source, ChangeBatch batch, Place from) : IDisposable
{
    private const int CommandsMax = 1000, ArgsMax = 16 << 20, NameBytesMax = 64;
    private const long BatchBytesMax = 1 << 20, ArgBytesMax = 512L << 20;

    private readonly RespParser _parser = new();
    private readonly ArgList _args = new();
    private readonly RespLimits _limits = new() { ArgsMax = ArgsMax, BulkBytesMax = ArgBytesMax };
    private long _needed, _received = from.Offset;
    private int _database = from.Database;
    private bool _isWithin;

    /// <summary>Up to here the target has answered that all is done.</summary>
    internal long Applied { get; private set; } = from.Offset;

    /// <summary>Commands that were applied.</summary>
    internal long Commands { get; private set; }

    /// <summary>Applies what has come and is whole; true if there was any.</summary>
    internal bool Apply()
    {
        bool any = false;
        while (TryNext())
        {
            any = true;
            if (!_isWithin && (batch.Commands >= CommandsMax || batch.Bytes >= BatchBytesMax))
                Commit();
        }
        if (!_isWithin)
            Commit();
        return any;
    }

    /// <inheritdoc/>
    public void Dispose() => _args.Dispose();

    private void Commit()
    {
        Commands += batch.Commands;
        batch.Commit(new Place(source.History, _received, _database));
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
            return false;
        }
        _needed = 0;
        if (found is not (ParseResult.Command or ParseResult.Nothing))
        {
            throw new GarnetException(ExitKind.Data, "the source's changes cannot be read",
                $"no command begins at offset {_received}", "What was applied is said by the target's key " + Place.Key + "; run again to go on there");
        }
        long bytes = _parser.Position - start;
        if (found == ParseResult.Command)
            Take(new ReadOnlySpan<byte>(start, checked((int)bytes)));
        link.Skip(bytes);
        return true;
    }

    private void Take(ReadOnlySpan<byte> command)
    {
        string name = NameOf(_args.Items[0].Span);
        long at = _received;
        _received += command.Length;
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
                _database = _args.Count == 2 && int.TryParse(_args.Items[1].Span, NumberStyles.None, CultureInfo.InvariantCulture, out int database) && database >= 0 ? database
                    : throw new GarnetException(ExitKind.Data, "the source's changes cannot be read", "a SELECT names no database", "Look at the source's version");
                break;
            case "MULTI":
                _isWithin = true;
                break;
            case "EXEC":
                _isWithin = false;
                break;
            case "SWAPDB":
                // The place must not go with its database.
                batch.Add(ByteLink.Encode("DEL"u8.ToArray(), Encoding.ASCII.GetBytes(Place.Key)), "DEL", at, 0);
                batch.Add(command, name, at, _database);
                break;
            default:
                batch.Add(command, name, at, _database);
                break;
        }
    }

    private static string NameOf(ReadOnlySpan<byte> name) =>
        Encoding.Latin1.GetString(name[..Math.Min(name.Length, NameBytesMax)]).ToUpperInvariant();
}
