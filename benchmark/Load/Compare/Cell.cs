namespace Garnet.Load.Compare;

/// <summary>One load that every system is put under.</summary>
internal sealed record Cell(string Operation, int Pipeline, int Connections, long Keys)
{
    public const int ValueBytes = 64;
    private const long SmallKeys = 1000, LargeKeys = 100_000;

    public string Name => Operation.Contains(' ', StringComparison.Ordinal) ? Operation : $"{Operation.ToUpperInvariant()} p{Pipeline} c{Connections}";

    /// <summary>Latency and fairness of this cell go into a table of their own.</summary>
    public bool IsTail => Connections == 256;

    public static Cell[] Smoke() =>
    [
        .. from op in (string[])["get", "set"] from c in (int[])[16, 64, 400] select new Cell(op, 1, c, SmallKeys),
        .. from op in (string[])["get", "set"] from c in (int[])[16, 64] select new Cell(op, 16, c, SmallKeys),
        new Cell("get", 100, 16, SmallKeys),
        new Cell("set", 100, 16, SmallKeys),
        new Cell("incr", 100, 16, SmallKeys),
        new Cell("mget16", 100, 16, SmallKeys),
        new Cell("get", 50, 256, SmallKeys),
    ];

    /// <summary>One sorted set and one set of 100,000 members, 1,000 hashes of 100 fields, 1,000 lists.</summary>
    public static Cell[] Collections() =>
    [
        new Cell("zadd", 100, 16, LargeKeys),
        new Cell("hset100", 100, 16, SmallKeys),
        new Cell("sadd", 100, 16, LargeKeys),
        new Cell("lpushlpop", 100, 16, SmallKeys),
    ];

    /// <summary>Commands one by one, each on what <see cref="CommandCells.Fill"/> has made.</summary>
    public static Cell[] Commands() => [.. CommandCells.All.Select(static cell => new Cell(cell.Commands, 16, 16, cell.Keys))];

    /// <summary>What a log costs.</summary>
    public static Cell[] Durable() =>
        [new Cell("set", 1, 64, SmallKeys), new Cell("set", 16, 16, SmallKeys), new Cell("set", 16, 64, SmallKeys), new Cell("set", 100, 16, SmallKeys)];

    /// <summary>What waiting for the disk costs, by how many wait.</summary>
    public static Cell[] Waiting() => [.. from c in (int[])[1, 4, 16, 64, 256] select new Cell("set", 1, c, SmallKeys)];

    /// <summary>What a change costs that outlives the machine, beside a read: alone, with others, and where the way to the server costs least.</summary>
    public static Cell[] Fenced() =>
        [.. from load in ((int Pipeline, int Connections)[])[(1, 1), (16, 1), (1, 16), (16, 16)] from op in (string[])["set", "get"] select new Cell(op, load.Pipeline, load.Connections, SmallKeys)];

    public static Cell[] Big(long keys) =>
        [.. from p in (int[])[100, 16] from op in (string[])["get", "set"] select new Cell(op, p, 16, keys)];
}
