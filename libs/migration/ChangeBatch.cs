using System.Buffers;
using System.Globalization;
using System.Text;
using Garnet.Common;

namespace Garnet.Migration;

/// <summary>
/// Changes on their way to the target, as one transaction that ends with how far they go (<see cref="Place"/>). What was a transaction of the
/// source is never in two of them. Commands go out as they came, byte for byte, but for times of expiry.
/// </summary>
internal sealed class ChangeBatch(TargetLink target, Place stands)
{
    private const int UnansweredMax = 500, GatheredMax = 64 << 10;
    private const string NothingFromThere = "Nothing from there on was applied";

    private readonly ArrayBufferWriter<byte> _gathered = new(GatheredMax);
    private readonly List<(string Name, long Offset)> _commands = [];
    private Place _stands = stands;
    private int _unanswered;
    private string? _refusal;
    private (string Name, long Offset) _refused;

    /// <summary>Commands in it.</summary>
    internal int Commands => _commands.Count;

    /// <summary>Bytes of them.</summary>
    internal long Bytes { get; private set; }

    /// <summary>Adds a command. <paramref name="offset"/>: where it stands in the source's stream.</summary>
    internal void Add(ReadOnlySpan<byte> command, string name, long offset, int database)
    {
        if (_commands.Count == 0)
            Begin(offset);
        if (target.Database != database)
        {
            target.DemandDatabase(database);
            Put(SelectOf(database), "SELECT", offset);
            target.Database = database;
        }
        Put(command, name, offset);
        Bytes += command.Length;
    }

    /// <summary>Has it done, and waits for that. An error leaves the place as it was if nothing was done, else it stands behind the batch.</summary>
    internal void Commit(Place place)
    {
        if (_commands.Count > 0)
            Write(place);
    }

    /// <summary>The same, also if there is nothing but the place.</summary>
    internal void Write(Place place)
    {
        if (_commands.Count == 0)
            Begin(place.Offset);
        if (target.Database != 0)
            Put(SelectOf(0), "SELECT", place.Offset);
        target.Database = 0;
        Put(ByteLink.Encode("SET"u8.ToArray(), Place.Key, place.Text), "SET", place.Offset);
        Flush();
        target.Bytes.Send("*1\r\n$4\r\nEXEC\r\n"u8);
        Answer done = target.Bytes.ReadBrief();
        if (Answer.Passes(_refusal ?? done.Text))
            throw new PassingException($"{target.Bytes.Address} does not take changes for now: {_refusal ?? done.Printable}");
        if (_refusal is not null)
            throw Stopped(_refused.Name, _refused.Offset, _refusal, NothingFromThere);
        if (done.IsNil)
            throw Moved();
        if (done.Kind != '*' || done.Items.Count != _commands.Count - 1)
            throw Stopped("EXEC", place.Offset, done.Printable, NothingFromThere);
        for (int i = 0; i < done.Items.Count; i++)
        {
            if (!done.Items[i].IsError)
                continue;
            string rest = $"All other changes up to offset {place.Offset} were applied; "
                + "run again, it goes on behind them, and compare with --verify";
            throw Stopped(_commands[i + 1].Name, _commands[i + 1].Offset, done.Items[i].Printable, rest);
        }
        _stands = place;
        _commands.Clear();
        Bytes = 0;
    }

    /// <summary>The target is a server of its own from here on.</summary>
    internal void Forget()
    {
        Begin(_stands.Offset);
        Put(ByteLink.Encode("DEL"u8.ToArray(), Place.Key), "DEL", _stands.Offset);
        Flush();
        Answer done = target.Bytes.Call("EXEC");
        if (done.IsNil)
            throw Moved();
        if (_refusal is not null || done.Items.Count != 1 || done.Items[0].IsError)
            throw target.Refusal("DEL", done);
    }

    private void Begin(long offset)
    {
        Guard();
        Put("*1\r\n$5\r\nMULTI\r\n"u8, "MULTI", offset);
    }

    private static byte[] SelectOf(int database) =>
        ByteLink.Encode("SELECT"u8.ToArray(), Encoding.ASCII.GetBytes(database.ToString(CultureInfo.InvariantCulture)));

    // Another process may go on with the target, or a transaction of an earlier connection of ours be done only now: then EXEC does
    // nothing (migration.M1).
    private void Guard()
    {
        Answer watched = target.Bytes.Call("WATCH"u8.ToArray(), Place.Key), found = target.Bytes.Call("GET"u8.ToArray(), Place.Key);
        if (!watched.IsOk || found.IsError)
            throw target.Refusal("WATCH and GET", watched.IsOk ? found : watched);
        if (found.IsNil || (Place.Parse(found.Text) with { History = _stands.History }) != _stands)
            throw Moved();
    }

    private IOException Moved() => new($"somebody else has changed {Place.Name} of {target.Bytes.Address}");

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
            Answer said = target.Bytes.ReadBrief();
            if (!said.IsError || _refusal is not null)
                continue;
            (_refusal, _refused) = (said.Printable, _commands[^_unanswered]);
        }
    }

    private static GarnetException Stopped(string name, long offset, string why, string next) => TargetLink.Refusal(
        $"the target does not take {Answer.Shown(Encoding.Latin1.GetBytes(name))} at offset {offset} of the source's changes", why, next);
}
