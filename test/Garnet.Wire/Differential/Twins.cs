using System.Globalization;
using System.Net;

namespace Garnet.Wire.Differential;

/// <summary>The same connection to the reference and to ours: every command goes to both, the replies are compared byte by byte.</summary>
internal sealed class Twins : IDisposable
{
    private const long SecondsApart = 2;
    private const string RunsAll = "local replies, at = {}, 1 while ARGV[at] do local last = at + tonumber(ARGV[at]) "
        + "replies[#replies + 1] = redis.pcall(unpack(ARGV, at + 1, last)) at = last + 1 end return replies";

    private readonly RespConnection _reference, _ours;
    private readonly KnownDifferences _known;
    private readonly string[] _greeting;
    private readonly List<string[]> _queued = [];

    public Twins(IPEndPoint reference, IPEndPoint ours, KnownDifferences known, int protocol)
    {
        _reference = new RespConnection(reference);
        _ours = new RespConnection(ours);
        _known = known;
        _greeting = ["HELLO", protocol.ToString(CultureInfo.InvariantCulture)];
        Reset();
    }

    /// <summary>Looks at our side before it is emptied.</summary>
    public Action? BeforeReset { get; init; }

    /// <summary>Makes both sides equal again: empty, database 0, same protocol, no name.</summary>
    public void Reset()
    {
        BeforeReset?.Invoke();
        foreach (RespConnection side in (RespConnection[])[_reference, _ours])
        {
            side.Call("RESET");
            side.Call("FLUSHALL");
            side.Call(_greeting);
        }
        _queued.Clear();
    }

    /// <summary>Null, or both replies in words.</summary>
    public string? Differ(params string[] words)
    {
        byte[] request = RespConnection.Encode(words);
        _reference.Send(request);
        _ours.Send(request);
        return Compare(words);
    }

    /// <summary>The same for commands that one script runs; it names of <paramref name="keys"/> those that they use.</summary>
    public string? DifferInScript(string[][] commands, string[] keys)
    {
        string[] named = [.. keys.Where(key => commands.Any(words => words.Contains(key)))];
        string[] words =
        [
            "EVAL", RunsAll, Count(named), .. named,
            .. commands.SelectMany(static command => (string[])[Count(command), .. command]),
        ];
        byte[] request = RespConnection.Encode(words);
        _reference.Send(request);
        _ours.Send(request);
        RespNode wanted = _reference.Read(), got = _ours.Read();
        return wanted.Items?.Count == commands.Length && got.Items?.Count == commands.Length ? CompareEach(commands, wanted.Items, got.Items) : Compare(words, wanted, got);
    }

    public void Dispose()
    {
        _reference.Dispose();
        _ours.Dispose();
    }

    private string? Compare(string[] words)
    {
        RespNode wanted = _reference.Read(), got = _ours.Read();
        if (IsPage(wanted) && IsPage(got) && words[0].EndsWith("SCAN", StringComparison.OrdinalIgnoreCase))
        {
            // COUNT is a hint and cursors are the server's own: whole scans are compared.
            wanted = WholeScan(_reference, words, wanted);
            got = WholeScan(_ours, words, got);
        }
        string? difference = Compare(words, wanted, got);
        if (wanted is { Kind: '+', Text: "QUEUED" }) _queued.Add(words);
        else if (words[0].ToUpperInvariant() is "EXEC" or "DISCARD" or "MULTI" && (words[0] == "EXEC" || wanted.Kind == '+')) _queued.Clear();
        return difference;
    }

    private string? Compare(string[] words, RespNode wanted, RespNode got)
    {
        if (words[0].StartsWith("Z", StringComparison.OrdinalIgnoreCase)) (wanted, got) = (WithoutNegativeZero(wanted), WithoutNegativeZero(got));
        bool same = wanted.Raw.Length > 0 && got.Raw.Length > 0 ? wanted.Raw.AsSpan().SequenceEqual(got.Raw) : wanted.ToString() == got.ToString(); // only whole replies have bytes
        if (same || Equivalent(words[0].ToUpperInvariant(), wanted, got)) return null;
        if (words[0].Equals("EXEC", StringComparison.OrdinalIgnoreCase) && wanted.Items?.Count == _queued.Count && got.Items?.Count == _queued.Count)
            return CompareEach(_queued, wanted.Items, got.Items);
        string command = string.Join(' ', words.Select(Quoted.Quote)), reference = wanted.ToString(), ours = got.ToString();
        return _known.Covers(command, reference, ours) ? null : $"{command}\n    reference {reference}\n    ours      {ours}";
    }

    private string? CompareEach(IEnumerable<string[]> commands, IReadOnlyList<RespNode> wanted, IReadOnlyList<RespNode> got) =>
        commands.Select((words, i) => Compare(words, wanted[i], got[i])).FirstOrDefault(static difference => difference is not null);

    private static string Count(string[] words) => words.Length.ToString(CultureInfo.InvariantCulture);

    // Idle times run on; pages are kept in another way than a tree; consumers are made, and progress is told, as later versions do.
    private static RespNode WithoutVolatile(string command, RespNode reply)
    {
        string[] names = ["radix-tree-keys", "radix-tree-nodes", "consumers", "entries-read", "lag"];
        if (reply.Items is not { } items) return reply;
        List<RespNode> kept = [];
        for (int i = 0; i < items.Count; i++)
        {
            bool isIdle = command == "XPENDING" && items.Count == 4 && i == 2 && items[i].Kind == ':';
            bool isNamed = command == "XINFO" && i % 2 == 1 && names.Contains(items[i - 1].Text);
            kept.Add(isIdle || isNamed ? new RespNode(':', "0") : WithoutVolatile(command, items[i]));
        }
        return new RespNode(reply.Kind, "") { Items = kept };
    }

    private static bool Equivalent(string command, RespNode wanted, RespNode got) => command switch
    {
        "TTL" or "EXPIRETIME" => Near(wanted, got, SecondsApart),
        "PTTL" or "PEXPIRETIME" => Near(wanted, got, 1000 * SecondsApart),
        "HELLO" => wanted.Items?.Count == got.Items?.Count && wanted.Kind == got.Kind && wanted.Items is not null,   // names, versions and ids
        "KEYS" or "PUBSUB" => SameSet(wanted, got),
        "SCAN" => SameSet(wanted, got) || (IsPage(wanted) && IsPage(got)),   // in a transaction a page is all there is
        "HKEYS" or "HVALS" or "SMEMBERS" or "SINTER" or "SUNION" or "SDIFF" or "SSCAN" => SameSet(wanted, got),
        "HGETALL" or "HSCAN" or "ZSCAN" => SamePairs(wanted, got),
        "XPENDING" or "XINFO" => WithoutVolatile(command, wanted).ToString() == WithoutVolatile(command, got).ToString(),
        "HRANDFIELD" or "SRANDMEMBER" or "ZRANDMEMBER" => wanted.Kind == got.Kind && wanted.Items?.Count == got.Items?.Count,
        _ => false,
    };

    // Whether a score of -0 keeps its sign depends on the form that the reference holds the set in; ours are stored without.
    private static RespNode WithoutNegativeZero(RespNode reply) => reply switch
    {
        { Items: { } items } when reply.ToString().Contains("-0", StringComparison.Ordinal) => new RespNode(reply.Kind, "") { Items = [.. items.Select(WithoutNegativeZero)] },
        { Text: "-0" } => reply with { Text = "0", Raw = [] },
        _ => reply,
    };

    private static bool IsPage(RespNode reply) => reply.Kind == '*' && reply.Items is { Count: 2 } && reply.Items[1].Items is not null;

    private static RespNode WholeScan(RespConnection side, string[] words, RespNode page)
    {
        int cursor = words[0].Length == 4 ? 1 : 2; // HSCAN and the like name a key first
        List<RespNode> keys = [.. page.Items![1].Items!];
        while (page.Items![0].Text != "0")
        {
            page = side.Call([.. words[..cursor], page.Items[0].Text, .. words[(cursor + 1)..]]);
            keys.AddRange(page.Items![1].Items!);
        }
        bool pairs = words[0].ToUpperInvariant() is "HSCAN" or "ZSCAN";
        return new RespNode('*', "") { Items = [.. pairs ? Pairs(keys).DistinctBy(p => p.ToString()) : keys.DistinctBy(k => k.Text)] };
    }

    private static bool SamePairs(RespNode wanted, RespNode got) =>
        wanted.Items is not null && got.Items is not null && wanted.Kind == got.Kind
        && Pairs(wanted.Items).Select(p => p.ToString()).Order(StringComparer.Ordinal).SequenceEqual(Pairs(got.Items).Select(p => p.ToString()).Order(StringComparer.Ordinal));

    // A list of pairs may already be one: a whole scan.
    private static IEnumerable<RespNode> Pairs(IReadOnlyList<RespNode> items) =>
        items.Count == 0 || items[0].Items is not null ? items : items.Chunk(2).Select(pair => new RespNode('*', "") { Items = pair });

    private static bool Near(RespNode wanted, RespNode got, long distance) =>
        wanted.Kind == ':' && got.Kind == ':' && long.TryParse(wanted.Text, out long a) && long.TryParse(got.Text, out long b) && a >= 0 == b >= 0 && Math.Abs(a - b) <= distance;

    private static bool SameSet(RespNode wanted, RespNode got) =>
        wanted.Items is not null && got.Items is not null && wanted.Kind == got.Kind
        && wanted.Items.Select(i => i.ToString()).Order(StringComparer.Ordinal).SequenceEqual(got.Items.Select(i => i.ToString()).Order(StringComparer.Ordinal));
}
