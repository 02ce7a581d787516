using System.Globalization;
using System.Text;

namespace Garnet.Aof.Format;

/// <summary>
/// What a data directory is: the file <c>manifest</c>, a few lines of text (website/docs/format/manifest.md). It is only ever
/// replaced as a whole.
/// </summary>
public sealed record Manifest
{
    /// <summary>The file's name.</summary>
    public const string FileName = "manifest";
    /// <summary>The name under which the next one is written.</summary>
    public const string NextFileName = "manifest.tmp";
    /// <summary>
    /// The name of a manifest that waits to become true: a snapshot of a primary is taking the place of all that was here.
    /// </summary>
    public const string ReplacingFileName = "manifest.replacing";
    /// <summary>Most sublogs a log may have; their numbers have two digits.</summary>
    public const int SublogsMax = 100;
    internal const int BytesMax = 16 << 10;

    private const string Title = "garnet-manifest ";
    private const int CurrentVersion = 5, FirstVersionWithTerms = 2, FirstVersionWithLogs = 3, FirstVersionWithTier = 4,
        FirstVersionWithMemory = 5, FirstVersion = 1;

    /// <summary>Seed of the store's key hash.</summary>
    public required ulong HashSeed { get; init; }
    /// <summary>Partitions of the store, which are the lanes of the log.</summary>
    public required int Lanes { get; init; }
    /// <summary>Sublogs of the log; fixed for the life of the directory.</summary>
    public required int Sublogs { get; init; }
    /// <summary>The last term that somebody was to write in; 0 in a directory in which nobody has led yet.</summary>
    public required uint Term { get; init; }
    /// <summary>The newest snapshot; null = none.</summary>
    public SnapshotName? Snapshot { get; init; }
    /// <summary>The snapshot before, the way back if the newest is damaged; null = none.</summary>
    public SnapshotName? Previous { get; init; }
    /// <summary>
    /// Terms that began up to behind the newest snapshot, the last of them, oldest first: what is left of the log does not tell any more.
    /// </summary>
    public IReadOnlyList<TermStart> Terms { get; init; } = [];
    /// <summary>By sublog, the file that must be there, or a later one; empty = not known, or no log has been written.</summary>
    public IReadOnlyList<NamedLog> Logs { get; init; } = [];
    /// <summary>The tier that snapshots may name records on; null = there has been none. Whoever knows nothing of it must not take the directory for all there is.</summary>
    public TierName? Tier { get; init; }
    /// <summary>The log was durable up to this batch when it last ended in order; 0 = not known.</summary>
    public ulong Ended { get; init; }

    /// <summary>The last batch of which it is known from here that it was durable in the sublog.</summary>
    internal ulong DurableIn(int sublog) =>
        Math.Max(Ended, sublog < Logs.Count && Logs[sublog].FirstBatch > 0 ? Logs[sublog].FirstBatch - 1 : 0);

    internal byte[] Encode()
    {
        string text = string.Create(CultureInfo.InvariantCulture,
            $"{Title}{Version}\n" +
            $"seed {HashSeed:x16}\nlanes {Lanes}\nsublogs {Sublogs}\nterm {Term}\n" +
            $"snapshot {Of(Snapshot)}\nprevious {Of(Previous)}\nterms {Of(Terms)}\n" +
            $"logs {Of(Logs)}\nended {Ended}\n{(Tier is null ? "" : $"tier {Tier.Encode()}\n")}");
        return Encoding.ASCII.GetBytes(text + LastLine(Encoding.ASCII.GetBytes(text)));
    }

    // The first that can say it: what knows no more still takes the directory.
    private int Version => Tier is null ? FirstVersionWithTier - 1
        : Tier.MemoryPath.Length == 0 ? FirstVersionWithMemory - 1 : CurrentVersion;

    /// <summary>Reads a manifest; <see cref="HeaderState.Newer"/> if it is whole but of another version.</summary>
    internal static HeaderState TryDecode(ReadOnlySpan<byte> bytes, out Manifest? manifest)
    {
        manifest = null;
        string text = Encoding.ASCII.GetString(bytes);
        if (!text.StartsWith(Title, StringComparison.Ordinal))
            return HeaderState.None;
        int end = text.LastIndexOf("crc ", StringComparison.Ordinal);
        if (end < 0 || text[end..] != LastLine(bytes[..end]))
            return HeaderState.Damaged;
        string[] lines = text[..end].Split('\n', StringSplitOptions.RemoveEmptyEntries);
        if (!int.TryParse(lines[0].AsSpan(Title.Length), NumberStyles.None, CultureInfo.InvariantCulture, out int version)
            || version is < FirstVersion or > CurrentVersion) return HeaderState.Newer;
        manifest = Parse(lines, version);
        return manifest is null ? HeaderState.Damaged : HeaderState.Whole;
    }

    private static Manifest? Parse(string[] lines, int version)
    {
        IReadOnlyList<TermStart> terms = [];
        IReadOnlyList<NamedLog> logs = [];
        ulong ended = 0;
        bool hasTerms = version >= FirstVersionWithTerms, hasLogs = version >= FirstVersionWithLogs;
        bool hasTier = version >= FirstVersionWithTier;
        TierName? tier = null;
        if (lines.Length != (hasTier ? 11 : hasLogs ? 10 : hasTerms ? 8 : 7)
            || !ulong.TryParse(Value(lines[1], "seed "), NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out ulong seed)
            || !int.TryParse(Value(lines[2], "lanes "), NumberStyles.None, CultureInfo.InvariantCulture, out int lanes)
            || !int.TryParse(Value(lines[3], "sublogs "), NumberStyles.None, CultureInfo.InvariantCulture, out int sublogs)
            || !uint.TryParse(Value(lines[4], "term "), NumberStyles.None, CultureInfo.InvariantCulture, out uint term)
            || sublogs is < 1 or > SublogsMax
            || !TrySnapshot(Value(lines[5], "snapshot "), out SnapshotName? snapshot)
            || !TrySnapshot(Value(lines[6], "previous "), out SnapshotName? previous)
            || (hasTerms && !TryTerms(Value(lines[7], "terms "), out terms))
            || (hasLogs && (!TryLogs(Value(lines[8], "logs "), sublogs, out logs)
                || !ulong.TryParse(Value(lines[9], "ended "), NumberStyles.None, CultureInfo.InvariantCulture, out ended)))
            || (hasTier && !TierName.TryDecode(Value(lines[10], "tier "), version >= FirstVersionWithMemory, out tier))) return null;
        if (!new DirectoryLayout(lanes, sublogs).IsPossible || term > TermStart.TermMax)
            return null;
        return new Manifest
        {
            HashSeed = seed, Lanes = lanes, Sublogs = sublogs, Term = term, Snapshot = snapshot, Previous = previous,
            Terms = terms, Logs = logs, Ended = ended, Tier = tier,
        };
    }

    private static string LastLine(ReadOnlySpan<byte> before) =>
        string.Create(CultureInfo.InvariantCulture, $"crc {Crc32C.Of(before):x8}\n");

    private static string Of(SnapshotName? snapshot) => snapshot is null ? "none"
        : string.Create(CultureInfo.InvariantCulture, $"{snapshot.File} {snapshot.Batch} {snapshot.Bytes} {snapshot.HeadCrc:x8}");

    private static string Of(IReadOnlyList<TermStart> terms) => terms.Count == 0 ? "none"
        : string.Join(' ', terms.Select(static term =>
            string.Create(CultureInfo.InvariantCulture, $"{term.Term}:{term.First}:{term.Before}:{term.Owner}")));

    private static string Of(IReadOnlyList<NamedLog> logs) => logs.Count == 0 ? "none"
        : string.Join(' ',
            logs.Select(static log => string.Create(CultureInfo.InvariantCulture, $"{log.FirstBatch}:{log.HeaderCrc:x8}:{log.Bytes}")));

    private static string Value(string line, string name) => line.StartsWith(name, StringComparison.Ordinal) ? line[name.Length..] : "";

    private static bool TrySnapshot(string text, out SnapshotName? snapshot)
    {
        snapshot = null;
        if (text == "none")
            return true;
        string[] words = text.Split(' ');
        if (words.Length is not (2 or 4) || words[0].Contains('/', StringComparison.Ordinal))
            return false;
        if (!ulong.TryParse(words[1], NumberStyles.None, CultureInfo.InvariantCulture, out ulong batch))
            return false;
        long bytes = 0;
        uint crc = 0;
        if (words.Length == 4 && (!long.TryParse(words[2], NumberStyles.None, CultureInfo.InvariantCulture, out bytes)
            || !uint.TryParse(words[3], NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out crc))) return false;
        snapshot = new SnapshotName(words[0], batch) { Bytes = bytes, HeadCrc = crc };
        return true;
    }

    private static bool TryTerms(string text, out IReadOnlyList<TermStart> terms)
    {
        terms = [];
        if (text == "none")
            return true;
        var read = new List<TermStart>();
        foreach (string word in text.Split(' '))
        {
            string[] numbers = word.Split(':');
            uint owner = 0;
            if (numbers.Length is not (3 or 4)
                || !uint.TryParse(numbers[0], NumberStyles.None, CultureInfo.InvariantCulture, out uint term)
                || !ulong.TryParse(numbers[1], NumberStyles.None, CultureInfo.InvariantCulture, out ulong first)
                || !uint.TryParse(numbers[2], NumberStyles.None, CultureInfo.InvariantCulture, out uint before)
                || (numbers.Length == 4
                    && !uint.TryParse(numbers[3], NumberStyles.None, CultureInfo.InvariantCulture, out owner))) return false;
            read.Add(new TermStart(term, first, before) { Owner = owner });
        }
        terms = read;
        return read.Count <= TermStart.KeptMax;
    }

    private static bool TryLogs(string text, int sublogs, out IReadOnlyList<NamedLog> logs)
    {
        logs = [];
        if (text == "none")
            return true;
        var read = new List<NamedLog>();
        foreach (string word in text.Split(' '))
        {
            string[] numbers = word.Split(':');
            if (numbers.Length != 3
                || !ulong.TryParse(numbers[0], NumberStyles.None, CultureInfo.InvariantCulture, out ulong first)
                || !uint.TryParse(numbers[1], NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out uint crc)
                || !long.TryParse(numbers[2], NumberStyles.None, CultureInfo.InvariantCulture, out long bytes)) return false;
            read.Add(new NamedLog(first, crc, bytes));
        }
        logs = read;
        return read.Count == sublogs;
    }
}
