using System.Buffers;
using System.Globalization;
using System.Text;
using Garnet.Common;

namespace Garnet.Migration;

/// <summary>
/// Changes on their way to the target, as one transaction that ends with how far they go (<see cref="Place"/>). What was a transaction of the
/// source is never in two of them. Commands go out as they came, byte for byte.
/// </summary>
internal sealed class ChangeBatch(TargetLink target)
{
    private const int UnansweredMax = 500, AnswerBytesMax = 4096, GatheredMax = 64 << 10;

    private readonly ArrayBufferWriter<byte> _gathered = new(GatheredMax);
    private readonly List<(string Name, long Offset)> _commands = [];
    private int _unanswered;
    private bool _isOpen;
    private string? _refusal;
    private (string Name, long Offset) _refused;

    /// <summary>Commands in it.</summary>
    internal int Commands => _commands.Count;

    /// <summary>Bytes of them.</summary>
    internal long Bytes { get; private set; }

    /// <summary>Adds a command. <paramref name="offset"/>: where it stands in the source's stream.</summary>
    internal void Add(ReadOnlySpan<byte> command, string name, long offset, int database)
    {
        if (!_isOpen)
        {
            _isOpen = true;
            Put("*1\r\n$5\r\nMULTI\r\n"u8, "MULTI", offset);
        }
        if (target.Database != database)
        {
            Put(SelectOf(database), "SELECT", offset);
            target.Database = database;
        }
        Put(command, name, offset);
        Bytes += command.Length;
    }

    /// <summary>Has it done, and waits for that. An error leaves the place as it was if nothing was done, else it stands behind the batch.</summary>
    internal void Commit(Place place)
    {
        if (!_isOpen)
            return;
        if (target.Database != 0)
            Put(SelectOf(0), "SELECT", place.Offset);
        target.Database = 0;
        Put(ByteLink.Encode("SET"u8.ToArray(), Encoding.ASCII.GetBytes(Place.Key), place.Text), "SET", place.Offset);
        Flush();
        target.Bytes.Send("*1\r\n$4\r\nEXEC\r\n"u8);
        Answer done = target.Bytes.Read(AnswerBytesMax);
        if (_refusal is not null)
            throw Stopped(_refused.Name, _refused.Offset, _refusal, "Nothing from there on was applied");
        if (done.Kind != '*' || done.IsNil || done.Items.Count != _commands.Count - 1)
            throw Stopped("EXEC", place.Offset, done.Printable, "Nothing from there on was applied");
        for (int i = 0; i < done.Items.Count; i++)
        {
            if (done.Items[i].IsError)
            {
                throw Stopped(_commands[i + 1].Name, _commands[i + 1].Offset, done.Items[i].Printable, string.Create(CultureInfo.InvariantCulture,
                    $"All other changes up to offset {place.Offset} were applied; run again, it goes on behind them, and compare with --verify"));
            }
        }
        _isOpen = false;
        _commands.Clear();
        Bytes = 0;
    }

    private static byte[] SelectOf(int database) =>
        ByteLink.Encode("SELECT"u8.ToArray(), Encoding.ASCII.GetBytes(database.ToString(CultureInfo.InvariantCulture)));

    private void Put(ReadOnlySpan<byte> command, string name, long offset)
    {
        if (_gathered.WrittenCount + command.Length > GatheredMax)
            Send();
        if (command.Length > GatheredMax)
            target.Bytes.Send(command);
        else
            _gathered.Write(command);
        _commands.Add((name, offset));
        // Each has a word for an answer: what waits to be read is never so much that the target would stop to take more.
        if (++_unanswered >= UnansweredMax)
            Flush();
    }

    private void Send()
    {
        target.Bytes.Send(_gathered.WrittenSpan);
        _gathered.ResetWrittenCount();
    }

    private void Flush()
    {
        Send();
        for (; _unanswered > 0; _unanswered--)
        {
            Answer said = target.Bytes.Read(AnswerBytesMax);
            if (!said.IsError || _refusal is not null)
                continue;
            (_refusal, _refused) = (said.Printable, _commands[^_unanswered]);
        }
    }

    private GarnetException Stopped(string name, long offset, string why, string next)
    {
        bool isFull = why.StartsWith("OOM", StringComparison.Ordinal);
        return new(isFull ? ExitKind.Configuration : ExitKind.Data,
            string.Create(CultureInfo.InvariantCulture, $"the target does not take {name} at offset {offset} of the source's changes"), why,
            isFull ? $"{next}. Give it more with --maxmemory and run this again" : next);
    }
}
