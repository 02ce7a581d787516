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
    private const string Full = "OOM "; // also behind EXECABORT
    private const int KeysOnTheirWayMax = 1000, SmallBytesMax = 4096;
    private const long BytesOnTheirWayMax = 8 << 20, KeysMax = 1L << 40;

    private readonly Queue<(long Bytes, string What)> _onTheirWay = new();
    private readonly HashSet<int> _databases = [0];
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

    /// <summary>True if it is given later times of expiry than the source says (<see cref="ShiftedTimes"/>).</summary>
    internal bool ShiftsTimes { get; set; }

    internal static TargetLink Open(ServerAddress address) => new(ByteLink.Open(address));

    /// <summary>Where an earlier run has left it, or null.</summary>
    internal Place? ReadPlace()
    {
        Select(0);
        Answer said = Bytes.Call("GET"u8.ToArray(), Place.Key);
        if (said.IsError)
            throw Bytes.Refused("GET", said);
        return said.IsNil ? null : Place.Parse(said.Text);
    }

    /// <summary>Writes it, if it is as <paramref name="before"/> (null: not there); else somebody else copies to the same target, and this throws.</summary>
    internal void WritePlace(Place place, Place? before)
    {
        Select(0);
        Demand("WATCH", Bytes.Call("WATCH"u8.ToArray(), Place.Key));
        DemandPlace(before);
        Demand("MULTI", Bytes.Call("MULTI"));
        Bytes.Call("SET"u8.ToArray(), Place.Key, place.Text);
        Answer done = Bytes.Call("EXEC");
        if (done.IsNil)
            throw Taken();
        if (done.Items.Count != 1 || !done.Items[0].IsOk)
            throw Refusal("SET", done.Items.Count == 1 ? done.Items[0] : done);
    }

    /// <summary>Throws if the place is another one; where keys are on their way their answers have to be read before.</summary>
    internal void DemandPlace(Place? expected)
    {
        int database = Database;
        if (ReadPlace() != expected)
            throw Taken();
        Select(database);
    }

    /// <summary>What is thrown where another run writes to the target.</summary>
    internal GarnetException Taken() => new(ExitKind.Configuration, $"another migrate copies to {Bytes.Address}",
        $"the key {Place.Name} has become another one's",
        "See that only one runs; if what the target holds is not whole, run that with --replace");

    /// <summary>Throws if it holds keys, or functions, which would be mixed with what comes (migration.M3).</summary>
    internal void DemandEmpty()
    {
        long keys = Count(Bytes).Values.Sum();
        Answer functions = Bytes.Call("FUNCTION", "LIST"); // an error: it knows none
        if (keys == 0 && functions.Items.Count == 0)
            return;
        throw new GarnetException(ExitKind.Configuration, $"the target {Bytes.Address} is not empty",
            $"its {keys} keys and {functions.Items.Count} libraries of functions would be mixed with what comes",
            "Empty it, or have it emptied by --replace");
    }

    /// <summary>True if it can say when a key expires, which is asked at the end of <see cref="ShiftedTimes"/>.</summary>
    internal bool TellsTimes() => !Bytes.Call("PEXPIRETIME"u8.ToArray(), Place.Key).IsError;

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
            if (parts.Length > 1
                && parts[0].StartsWith("db", StringComparison.Ordinal) && parts[1].StartsWith("keys=", StringComparison.Ordinal)
                && int.TryParse(parts[0].AsSpan(2), NumberStyles.None, CultureInfo.InvariantCulture, out int database)
                && long.TryParse(parts[1].AsSpan("keys=".Length), NumberStyles.None, CultureInfo.InvariantCulture, out long keys)
                && keys > 0)
                counts[database] = Math.Min(keys, KeysMax);
        }
        return counts;
    }

    /// <summary>Removes all that it holds.</summary>
    internal void Clear()
    {
        Demand("FLUSHALL", Bytes.Call("FLUSHALL"));
        if (Bytes.Call("FUNCTION", "LIST").Items.Count > 0)
            Demand("FUNCTION FLUSH", Bytes.Call("FUNCTION", "FLUSH"));
    }

    /// <inheritdoc/>
    public void TakeFunction(ReadOnlySpan<byte> source)
    {
        Drain(0);
        Answer said = Bytes.Call("FUNCTION"u8.ToArray(), "LOAD"u8.ToArray(), source.ToArray());
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
        long time = ShiftsTimes ? ShiftedTimes.Of(expireAtMs) : expireAtMs;
        byte[] number = Encoding.ASCII.GetBytes(time.ToString(CultureInfo.InvariantCulture));
        byte[] request = ByteLink.Encode("RESTORE"u8.ToArray(), key, number);
        byte[] length = Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"${payload.Length}\r\n"));
        byte[] head = [.. "*6"u8, .. request.AsSpan(2), .. length];
        ReadOnlySpan<byte> options = "\r\n$7\r\nREPLACE\r\n$6\r\nABSTTL\r\n"u8;
        if (payload.Length < SmallBytesMax)
            Bytes.Send((byte[])[.. head, .. payload, .. options]);
        else
        {
            Bytes.Send(head);
            Bytes.Send(payload);
            Bytes.Send(options);
        }
        string what = string.Create(CultureInfo.InvariantCulture, $"the key {Answer.Shown(key)} of database {database}");
        _onTheirWay.Enqueue((payload.Length, what));
        _bytesOnTheirWay += payload.Length;
    }

    /// <summary>Waits until no more than so many bytes of keys have no answer yet.</summary>
    internal void Drain(long bytes)
    {
        while (_onTheirWay.Count > 0 && (bytes == 0 || _bytesOnTheirWay > bytes || _onTheirWay.Count > KeysOnTheirWayMax / 2))
        {
            (long one, string what) = _onTheirWay.Dequeue();
            Demand(what, Bytes.ReadBrief());
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
        {
            throw new GarnetException(ExitKind.Configuration, $"the target {Bytes.Address} has no database {number}", said.Printable,
                "Start it with more --databases, and run this again with --replace");
        }
        Database = database;
    }

    /// <summary>Throws if it lacks a database. Asked beside this connection, as in a transaction a SELECT that fails stops nothing.</summary>
    internal void DemandDatabase(int database)
    {
        if (_databases.Contains(database))
            return;
        using TargetLink beside = Open(Bytes.Address);
        beside.Select(database);
        _databases.Add(database);
    }

    /// <summary>What is thrown where it does not take something.</summary>
    internal Exception Refusal(string what, Answer said) => said.IsPassing
        ? new PassingException($"{Bytes.Address} does not take {what} for now: {said.Printable}")
        : Refusal($"the target {Bytes.Address} does not take {what}", said.Printable, "What it has is not all of the source's");

    /// <summary>The same, with what it is to say.</summary>
    internal static GarnetException Refusal(string what, string why, string next)
    {
        bool isFull = why.StartsWith(Full, StringComparison.Ordinal) || why.Contains(" " + Full, StringComparison.Ordinal);
        return new(isFull ? ExitKind.Configuration : ExitKind.Data, what, why,
            isFull ? $"{next}. Give it more with --maxmemory and run this again" : next);
    }

    /// <inheritdoc/>
    public void Dispose() => Bytes.Dispose();

    private void Demand(string what, Answer said)
    {
        if (!said.IsOk)
            throw Refusal(what, said);
    }
}
