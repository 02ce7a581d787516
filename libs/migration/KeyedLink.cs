using System.Globalization;
using Garnet.Common;

namespace Garnet.Migration;

/// <summary>A connection on which one server's keys are looked at, next to the one that has its changes.</summary>
internal sealed class KeyedLink(ByteLink link) : IDisposable
{
    private const string PageKeys = "512", FirstPage = "0";
    private const long ValueBytesMax = 1L << 30; // a value of 512 MiB and what stands around its elements
    private int _database;

    /// <summary>What it comes over.</summary>
    internal ByteLink Bytes => link;

    internal static KeyedLink Open(ServerAddress address) => new(ByteLink.Open(address));

    /// <summary>Goes to a database.</summary>
    internal void Select(int database)
    {
        if (database == _database)
            return;
        Demand(link.Call("SELECT", database.ToString(CultureInfo.InvariantCulture)));
        _database = database;
    }

    /// <summary>All keys of a database, some perhaps twice.</summary>
    internal IEnumerable<byte[]> Walk(int database)
    {
        string cursor = FirstPage;
        do
        {
            Select(database);
            Answer page = Demand(link.Call("SCAN", cursor, "COUNT", PageKeys));
            if (page.Items.Count != 2)
                throw new IOException($"{link.Address} answers SCAN with something else");
            foreach (Answer key in page.Items[1].Items)
                yield return key.Bytes;
            cursor = page.Items[0].Text;
        }
        while (cursor != FirstPage);
    }

    /// <summary>Some key of a database, or null. Never of a source: a Redis of 7.0 whose writers wait looks for one for ever if all are due.</summary>
    internal byte[]? Any(int database)
    {
        Select(database);
        Answer said = Demand(link.Call("RANDOMKEY"));
        return said.IsNil ? null : said.Bytes;
    }

    /// <summary>Asks for keys of one database; the answers are read by <see cref="ReadValue"/>, one for each.</summary>
    internal void Ask(int database, IReadOnlyList<byte[]> keys)
    {
        Select(database);
        SendAll(keys.SelectMany(static key => (byte[][][])[["PTTL"u8.ToArray(), key], ["DUMP"u8.ToArray(), key]]));
    }

    /// <summary>Sends requests together, and gives their answers, none of which is an error.</summary>
    internal List<Answer> CallEach(IEnumerable<byte[][]> requests)
    {
        int count = SendAll(requests);
        return [.. Enumerable.Range(0, count).Select(_ => Demand(link.ReadBrief()))];
    }

    /// <summary>In how many milliseconds a key expires (-1: never, -2: it is not there), and what it holds, as RESTORE wants it.</summary>
    internal (long LeftMs, byte[]? Payload) ReadValue()
    {
        Answer left = Demand(link.Read()), payload = Demand(link.Read(ValueBytesMax));
        bool isNumber = long.TryParse(left.Text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long ms);
        return (isNumber ? ShiftedTimes.RealLeft(ms) : -1, payload.IsNil ? null : payload.Bytes);
    }

    /// <summary>Those keys of a database that are not there.</summary>
    internal IEnumerable<byte[]> Lacking(int database, byte[][] keys)
    {
        Select(database);
        List<Answer> found = CallEach(keys.Select(static key => (byte[][])["EXISTS"u8.ToArray(), key]));
        return keys.Where((_, index) => found[index].Text == "0");
    }

    /// <summary>What it says of itself.</summary>
    internal ServerState State() => ServerState.Parse(Demand(link.Call("INFO")).Text);

    /// <summary>Up to where its stream of changes goes.</summary>
    internal long Offset() => ServerState.Parse(Demand(link.Call("INFO", "replication")).Text).Offset
        ?? throw new IOException($"{link.Address} does not say how far its changes go (INFO replication)");

    /// <summary>Has writers wait, or no longer.</summary>
    internal void Pause(int seconds)
    {
        string milliseconds = (seconds * 1000L).ToString(CultureInfo.InvariantCulture);
        Answer said = seconds > 0 ? link.Call("CLIENT", "PAUSE", milliseconds, "WRITE") : link.Call("CLIENT", "UNPAUSE");
        if (!said.IsOk)
            throw link.Refused("CLIENT PAUSE", said);
    }

    /// <inheritdoc/>
    public void Dispose() => link.Dispose();

    private int SendAll(IEnumerable<byte[][]> requests)
    {
        int count = 0;
        using var all = new MemoryStream();
        for (IEnumerator<byte[][]> each = requests.GetEnumerator(); each.MoveNext(); count++)
            all.Write(ByteLink.Encode(each.Current));
        link.Send(all.GetBuffer().AsSpan(0, (int)all.Length));
        return count;
    }

    private Answer Demand(Answer said) => said.IsError ? throw link.Refused("to be looked at", said) : said;
}
