using System.Diagnostics;
using System.Globalization;
using System.Net;

namespace Garnet.Wire.Differential;

/// <summary>
/// The clients of <see cref="TrackingStream"/> at one server. What each has got after a step, as text that says the same for both servers: ids are
/// numbers of clients, and keys told one after the other are put in order, since a command that changes several may tell them in any.
/// </summary>
internal sealed class TrackingSide : IDisposable
{
    private const int DeadlineMs = 60_000;

    private readonly IPEndPoint _server;
    private readonly RespConnection[] _clients = new RespConnection[TrackingStream.Clients];
    private readonly bool[] _inTransaction = new bool[TrackingStream.Clients];
    private readonly List<string> _ids = [];
    private readonly string[] _now = new string[TrackingStream.Clients];
    private readonly RespConnection _watcher;
    private int _mark;

    public TrackingSide(IPEndPoint server)
    {
        _server = server;
        _watcher = new RespConnection(server);
        for (int client = 0; client < TrackingStream.Clients; client++) Open(client);
        Run(TrackingStream.Anchor, "HELLO", "3");
        Run(TrackingStream.Anchor, "CLIENT", "TRACKING", "ON");
        _watcher.Call("FLUSHALL");
        Heard(TrackingStream.Anchor);
    }

    /// <summary>Sends a command and returns what all clients have got by it: for each the replies, what it was told, and both as they came.</summary>
    public List<Got> Run(int client, params string[] words)
    {
        if (words[0] == "KILL")
        {
            Kill(client);
            words = ["PING"];
        }
        _clients[client].Send(RespConnection.Encode([.. words.Select(word => word.Length == 2 && word[0] == TrackingStream.IdMark ? _now[word[1] - '0'] : word)]));
        List<Got> got = [];
        if (words[0] is "EXEC" or "DISCARD" or "RESET") _inTransaction[client] = false;
        if (words[0] == "MULTI" || _inTransaction[client])
        {
            RespNode reply = Next(client, out List<RespNode> before);
            if (words[0] == "MULTI" && reply.Kind == '+') _inTransaction[client] = true;
            got.Add(Describe(client, [.. before, reply]));
        }
        // Its own first: then the command has run.
        foreach (int other in Enumerable.Range(0, TrackingStream.Clients).OrderBy(other => other == client ? -1 : other))
        {
            // What another reactor has posted is there before the answer to the second mark.
            List<RespNode> heard = [.. Heard(other), .. Heard(other)];
            if (heard.Count > 0) got.Add(Describe(other, heard));
        }
        return got;
    }

    /// <summary>True between MULTI and its end.</summary>
    public bool IsInTransaction(int client) => _inTransaction[client];

    /// <summary>What INFO says of tracking.</summary>
    public string Figures() => string.Join(' ', (_watcher.Call("INFO", "clients").Text + _watcher.Call("INFO", "stats").Text).Split("\r\n").Where(static line => line.StartsWith("tracking_", StringComparison.Ordinal)));

    public void Dispose()
    {
        foreach (RespConnection client in _clients) client.Dispose();
        _watcher.Dispose();
    }

    private void Open(int client)
    {
        _clients[client] = new RespConnection(_server);
        _ids.Add(_now[client] = _clients[client].Call("CLIENT", "ID").Text);
        _inTransaction[client] = false;
    }

    private void Kill(int client)
    {
        string id = _now[client];
        _watcher.Call("CLIENT", "KILL", "ID", id);
        Stopwatch since = Stopwatch.StartNew();
        while (_watcher.Call("CLIENT", "LIST", "ID", id).Text.Length > 0 && since.ElapsedMilliseconds < DeadlineMs) { }
        _clients[client].Dispose();
        Open(client);
    }

    // Up to the answer to a mark, which cannot be asked for in a transaction.
    private List<RespNode> Heard(int client)
    {
        List<RespNode> heard = [];
        if (_inTransaction[client]) return heard;
        string mark = "mark" + (_mark++).ToString(CultureInfo.InvariantCulture);
        _clients[client].Send(RespConnection.Encode("PING", mark));
        for (RespNode node = _clients[client].Read(); !Marks(node, mark); node = _clients[client].Read()) heard.Add(node);
        return heard;
    }

    private static bool Marks(RespNode node, string mark) => node.Text == mark || (node.Items is [_, var second] && second.Text == mark);

    private RespNode Next(int client, out List<RespNode> before)
    {
        before = [];
        RespNode node = _clients[client].Read();
        for (; IsTold(node); node = _clients[client].Read()) before.Add(node);
        return node;
    }

    private static bool IsTold(RespNode node) => node.Items is [{ Text: "invalidate" or "tracking-redir-broken" or "message" }, ..];

    private Got Describe(int client, List<RespNode> nodes) => new(
        client, Text(nodes.Where(static node => !IsTold(node))), Text(nodes.Where(IsTold)), Text(nodes));

    // Keys told one after the other are in order.
    private string Text(IEnumerable<RespNode> nodes)
    {
        List<string> all = [], keys = [];
        foreach (RespNode node in nodes)
        {
            if (IsTold(node) && node.Items![^1].Items is { } changed)
            {
                keys.AddRange(changed.Select(static key => Quoted.Quote(key.Text)));
                continue;
            }
            End();
            all.Add(!IsTold(node) ? Masked(node) : node.Items![0].Text == "tracking-redir-broken" ? "broken " + Name(node.Items[1].Text) : "all");
        }
        End();
        return string.Join(" | ", all);

        void End()
        {
            if (keys.Count > 0) all.Add("changed " + string.Join(' ', keys.Order(StringComparer.Ordinal)));
            keys.Clear();
        }
    }

    // The greeting names the server; ids are the server's own.
    private string Masked(RespNode node) => node.Items switch
    {
        [{ Text: "server" }, ..] => "greeting",
        { } items when items.Count == 6 && items[0].Text == "flags" => $"{node.Kind} {string.Join(' ', items[1].Items!.Select(static flag => flag.Text).Order(StringComparer.Ordinal))} {Name(items[3].Text)} {items[5]}",
        { } items => $"{node.Kind}[ {string.Join(' ', items.Select(Masked))} ]",
        null when node.Kind == ':' && _ids.Contains(node.Text) => Name(node.Text),
        _ => node.ToString(),
    };

    private string Name(string id) => _ids.IndexOf(id) is var at && at >= 0 ? $"client{at}" : id;

    /// <summary>What a client has got in a step.</summary>
    internal sealed record Got(int Client, string Replies, string Told, string All);
}
