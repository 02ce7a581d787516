namespace Garnet.Server.Clients;

/// <summary>What a command is and may do: first what Redis knows, which COMMAND INFO prints but for Protected, then what only this server goes by.</summary>
[Flags]
internal enum CommandFlags : uint
{
    None = 0,
    Write = 1 << 0,
    ReadOnly = 1 << 1,
    DenyOom = 1 << 2,
    Admin = 1 << 3,
    PubSub = 1 << 4,
    NoScript = 1 << 5,
    Blocking = 1 << 6,
    Loading = 1 << 7,
    Stale = 1 << 8,
    SkipMonitor = 1 << 9,
    SkipSlowlog = 1 << 10,
    Asking = 1 << 11,
    Fast = 1 << 12,
    NoAuth = 1 << 13,
    MayReplicate = 1 << 14,
    Protected = 1 << 15,
    NoMulti = 1 << 16,
    MovableKeys = 1 << 17,
    AllowBusy = 1 << 18,
    /// <summary>May have keys, or none.</summary>
    NoMandatoryKeys = 1 << 19,
    /// <summary>Allowed to a RESP2 client that is subscribed.</summary>
    WhileSubscribed = 1 << 20,
    /// <summary>Has subcommands; runs only to refuse an unknown one.</summary>
    Container = 1 << 21,
    /// <summary>Short though not marked Fast in Redis: run without being timed by itself.</summary>
    Quick = 1 << 22,
    /// <summary>Timed by itself; set by the table for what is neither Fast nor Quick.</summary>
    Timed = 1 << 23,
    /// <summary>Runs at once although a transaction is open.</summary>
    Immediate = 1 << 24,
    /// <summary>Runs what a transaction has queued: the rules are asked about all of that too.</summary>
    RunsQueue = 1 << 25,
    /// <summary>May touch keys of another database than the connection's.</summary>
    OtherDatabases = 1 << 26,
    /// <summary>Runs a script or function: it may touch more than the keys it names.</summary>
    RunsScript = 1 << 27,
    /// <summary>Changes whole databases: in the log that is an operation between batches.</summary>
    WholeDatabases = 1 << 28,
    /// <summary>Looks at keys that none of its arguments names: what they are follows from data.</summary>
    OtherKeys = 1 << 29,
    /// <summary>Changes what all reactors go by: it has its turn while none of them is in a batch (scripting.G4).</summary>
    Alone = 1 << 30,
    /// <summary>Changes nothing, yet a primary answers it otherwise than a replica: waits while the role changes.</summary>
    ByRole = 1u << 31,
}
