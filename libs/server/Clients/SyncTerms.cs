namespace Garnet.Server.Clients;

/// <summary>What a connection has said of itself by REPLCONF before it asks for all data.</summary>
internal sealed class SyncTerms
{
    /// <summary>It reads data up to a mark, their length not known before.</summary>
    internal bool KnowsEof { get; set; }

    /// <summary>It wants the data and no changes behind them.</summary>
    internal bool RdbOnly { get; set; }

    /// <summary>It has told where it listens: it is a server that wants to follow.</summary>
    internal bool Listens { get; set; }

    /// <summary>Of the data it wants libraries of functions only.</summary>
    internal bool OnlyFunctions { get; set; }
}
