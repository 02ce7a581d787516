namespace Garnet.Server.Commands;

/// <summary>On whose behalf a command wants to run; each rule says which of them it is asked for.</summary>
[Flags]
internal enum Asker : byte
{
    /// <summary>A connection; EXEC is asked for all that it runs.</summary>
    Client = 1,
    /// <summary>A connection in MULTI: the command is kept for EXEC.</summary>
    Queued = 2,
    /// <summary>A connection while a script has run for too long: beside the script.</summary>
    Busy = 4,
    /// <summary>A script or function that says what it does (<c>#!lua flags=…</c>), before it runs.</summary>
    Declared = 8,
    /// <summary>A script that says nothing, before it runs: it may have to wait, each of its calls is asked about by itself.</summary>
    Undeclared = 16,
    /// <summary>redis.call out of a script or function, which can wait for nothing.</summary>
    ScriptCall = 32,
    /// <summary>A command that has waited for a key, before it is served; on the thread of whoever wrote the key, who holds no lock.</summary>
    Woken = 64,
    /// <summary>A command of a transaction, when EXEC comes to it: only about the rights of its user.</summary>
    Executed = 128,

    Connections = Client | Queued | Busy,
    Scripts = Declared | Undeclared,
}
