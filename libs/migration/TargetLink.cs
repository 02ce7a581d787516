using System.Globalization;
using System.Text;
using Garnet.Common;

namespace Garnet.Migration;

/// <summary>
/// The connection to who gets the data: what it holds already, and the copy, key by key, so many on their way that neither side waits for
/// the other, and so few that their memory is bounded. Every answer is looked at.
/// </summary>
internal sealed class TargetLink : IRdbTaker, IDisposable
{
    private const int KeysOnTheirWayMax = 1000, AnswerBytesMax = 4096;
    private const long BytesOnTheirWayMax = 8 << 20;

    private readonly Queue<(long Bytes, string What)> _onTheirWay = new();
    private long _bytesOnTheirWay;

    private TargetLink(ByteLink link) => Bytes = link;

    /// <summary>What it comes over.</summary>
    internal ByteLink Bytes { get; }

    /// <summary>The database that is selected.</summary>
    internal int Database { get; set; }

    /// <summary>Keys that the target has taken.</summary>
    internal long Keys { get; private set; }

    /// <summary>Libraries of functions that it has taken.</summary>
    internal int Functions { get; private set; }

    internal static TargetLink Open(ServerAddress address) => new(ByteLink.Open(address));

    /// <summary>Where an earlier run has left it, or null.</summary>
    internal Place? ReadPlace()
    {
        Select(0);
        Answer said = Bytes.Call("GET", Place.Key);
        if (said.IsError)
            throw Bytes.Refused("GET", said);
        return said.IsNil ? null : Place.Parse(said.Text);
    }

    /// <summary>Writes it outside of a transaction.</summary>
    internal void WritePlace(Place place)
    {
        Select(0);
        Demand("SET", Bytes.Call("SET"u8.ToArray(), Encoding.ASCII.GetBytes(Place.Key), place.Text));
    }

    /// <summary>The copy is a server of its own from here on.</summary>
    internal void Forget()
    {
        Select(0);
        Answer said = Bytes.Call("DEL", Place.Key);
        if (said.IsError)
            throw Refusal("DEL", said);
    }

    /// <summary>Keys of each database that has some.</summary>
    internal static SortedDictionary<int, long> Count(ByteLink server)
    {
        Answer said = server.Call("INFO", "keyspace");
        if (said.IsError)
            throw server.Refused("INFO", said);
        var counts = new SortedDictionary<int, long>();
        foreach (string line in said.Text.Split("\r\n"))
        {
            string[] parts = line.Split(':', ',');
            if (parts.Length > 1 && parts[0].StartsWith("db", StringComparison.Ordinal) && parts[1].StartsWith("keys=", StringComparison.Ordinal)
                && int.TryParse(parts[0].AsSpan(2), NumberStyles.None, CultureInfo.InvariantCulture, out int database)
                && long.TryParse(parts[1].AsSpan("keys=".Length), NumberStyles.None, CultureInfo.InvariantCulture, out long keys) && keys > 0)
                counts[database] = keys;
        }
        return counts;
    }

    /// <summary>Removes all that it holds.</summary>
    internal void Clear()
    {
        Demand("FLUSHALL", Bytes.Call("FLUSHALL"));
        Demand("FUNCTION FLUSH", Bytes.Call("FUNCTION", "FLUSH"));
    }

    /// <inheritdoc/>
    public void TakeFunction(ReadOnlySpan<byte> source)
    {
        Drain(0);
        Answer said = Bytes.Call("FUNCTION"u8.ToArray(), "LOAD"u8.ToArray(), "REPLACE"u8.ToArray(), source.ToArray());
        if (said.IsError)
            throw Refusal("a library of functions", said);
        Functions++;
    }

    /// <inheritdoc/>
    public void TakeKey(int database, byte[] key, long expireAtMs, ReadOnlySpan<byte> payload)
    {
        if (_onTheirWay.Count >= KeysOnTheirWayMax || _bytesOnTheirWay + payload.Length > BytesOnTheirWayMax)
            Drain(Math.Max(0, (BytesOnTheirWayMax / 2) - payload.Length));
        if (database != Database)
        {
            Drain(0);
            Select(database);
        }
        string number = expireAtMs.ToString(CultureInfo.InvariantCulture);
        byte[] request = ByteLink.Encode("RESTORE"u8.ToArray(), key, Encoding.ASCII.GetBytes(number));
        byte[] head = [.. "*6"u8, .. request.AsSpan(2), .. Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"${payload.Length}\r\n"))];
        ReadOnlySpan<byte> options = "\r\n$7\r\nREPLACE\r\n$6\r\nABSTTL\r\n"u8;
        if (payload.Length < KeysOnTheirWayMax)
            Bytes.Send((byte[])[.. head, .. payload, .. options]);
        else
        {
            Bytes.Send(head);
            Bytes.Send(payload);
            Bytes.Send(options);
        }
        _onTheirWay.Enqueue((payload.Length, string.Create(CultureInfo.InvariantCulture, $"the key {Answer.Shown(key)} of database {database}")));
        _bytesOnTheirWay += payload.Length;
    }

    /// <summary>Waits until no more than so many bytes of keys have no answer yet.</summary>
    internal void Drain(long bytes)
    {
        while (_onTheirWay.Count > 0 && (bytes == 0 || _bytesOnTheirWay > bytes || _onTheirWay.Count > KeysOnTheirWayMax / 2))
        {
            (long one, string what) = _onTheirWay.Dequeue();
            Demand(what, Bytes.Read(AnswerBytesMax));
            _bytesOnTheirWay -= one;
            Keys++;
        }
    }

    /// <summary>Goes to a database.</summary>
    internal void Select(int database)
    {
        if (database == Database)
            return;
        string number = database.ToString(CultureInfo.InvariantCulture);
        Answer said = Bytes.Call("SELECT", number);
        if (!said.IsOk)
            throw NoDatabase(database, said);
        Database = database;
    }

    /// <summary>What is thrown where it has too few databases.</summary>
    internal GarnetException NoDatabase(int database, Answer said) => new(ExitKind.Configuration, $"the target {Bytes.Address} has no database {database}",
        said.Printable, "Start it with more --databases, and run this again with --replace");

    /// <summary>What is thrown where it does not take something.</summary>
    internal GarnetException Refusal(string what, Answer said)
    {
        bool isFull = said.Text.StartsWith("OOM", StringComparison.Ordinal);
        return new(isFull ? ExitKind.Configuration : ExitKind.Data, $"the target {Bytes.Address} does not take {what}", said.Printable,
            isFull ? "Give it more with --maxmemory and run this again" : "What it has is not all of the source's");
    }

    /// <inheritdoc/>
    public void Dispose() => Bytes.Dispose();

    private void Demand(string what, Answer said)
    {
        if (!said.IsOk)
            throw Refusal(what, said);
    }
}
