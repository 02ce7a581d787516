namespace Garnet.Server.Clients;

/// <summary>What MULTI or WATCH has begun on a connection; it has none before, and none after EXEC, DISCARD or UNWATCH.</summary>
internal sealed class Transaction
{
    internal CommandQueue Queue { get; } = new();

    /// <summary>A command was refused while it should be queued: EXEC will refuse all.</summary>
    internal bool Aborted { get; set; }

    /// <summary>The database that a queued SELECT has chosen for what is queued behind it; null if none has.</summary>
    internal int? Database { get; set; }

    /// <summary>What WATCH has named; null if nothing.</summary>
    internal WatchedKeys? Watched { get; set; }

    /// <summary>True if a watched key has changed.</summary>
    internal bool Touched => Watched is { Touched: true };

    /// <summary>False if it is known already that EXEC will run nothing.</summary>
    internal bool CanRun => !Aborted && !Touched;

    /// <summary>Bytes of memory; counts towards client-query-buffer-limit.</summary>
    internal long MemoryBytes => Queue.Capacity + (Watched?.MemoryBytes ?? 0);
}
