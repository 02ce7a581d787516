namespace Garnet.Server.Clients;

/// <summary>What a handler came to.</summary>
internal enum Reply : byte
{
    /// <summary>The reply is written.</summary>
    Sent,
    /// <summary>The reply is an error (for the statistics).</summary>
    Failed,
    /// <summary>The command waits (<see cref="Connection.Waiting"/>); what follows on the connection waits too.</summary>
    Parked,
    /// <summary>The command has not run; it is kept and runs again when the wait is over.</summary>
    Postponed,
    /// <summary>The reply is written; close when it has been sent.</summary>
    Close,
}
