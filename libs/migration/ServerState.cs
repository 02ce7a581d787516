using System.Globalization;

namespace Garnet.Migration;

/// <summary>What a server says of itself in INFO; empty where it says nothing.</summary>
/// <param name="RunId">Of this start of it, whatever it is called.</param>
/// <param name="Role">master or slave.</param>
/// <param name="History">Of its data: a replica has its primary's.</param>
/// <param name="Policy">What it does when it is full.</param>
internal sealed record ServerState(string RunId, string Role, string History, string Policy)
{
    private const string OfMaster = "master", OfReplica = "slave", IsUp = "up";

    /// <summary>True if all that is written is written to it.</summary>
    internal bool IsMaster => Role == OfMaster;

    /// <summary>True if it has its data from another server.</summary>
    internal bool IsReplica => Role == OfReplica;

    /// <summary>False for a replica without its primary.</summary>
    internal bool IsLinked { get; private init; }

    /// <summary>Up to where its stream of changes goes; null: it does not say.</summary>
    internal long? Offset { get; private init; }

    /// <summary>True if keys may go that nobody has deleted.</summary>
    internal bool Evicts { get; private init; }

    /// <summary>Asks one.</summary>
    internal static ServerState Of(ServerAddress address)
    {
        using var link = KeyedLink.Open(address);
        return link.State();
    }

    /// <summary>Reads what it says.</summary>
    internal static ServerState Parse(string text)
    {
        var fields = new Dictionary<string, string>();
        foreach (string line in text.Split("\r\n"))
        {
            if (line.IndexOf(':', StringComparison.Ordinal) is > 0 and var at)
                fields[line[..at]] = line[(at + 1)..];
        }
        bool hasOffset = TryNumber("master_repl_offset", out long offset), isBounded = TryNumber("maxmemory", out long bytes) && bytes > 0;
        string policy = Text("maxmemory_policy");
        return new(Text("run_id"), Text("role"), Text("master_replid"), policy)
        {
            IsLinked = Text("role") != OfReplica || Text("master_link_status") == IsUp,
            Offset = hasOffset ? offset : null,
            Evicts = isBounded && policy is not ("" or "noeviction"),
        };

        string Text(string name) => fields.GetValueOrDefault(name, "");

        bool TryNumber(string name, out long number) =>
            long.TryParse(Text(name), NumberStyles.None, CultureInfo.InvariantCulture, out number);
    }

    /// <summary>True if both have the same data, as one is a replica of the other, or both of a third.</summary>
    internal bool SharesDataWith(ServerState other) => History.Length > 0 && History == other.History && History.Any(static c => c != '0');
}
