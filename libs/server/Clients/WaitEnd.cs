namespace Garnet.Server.Clients;

/// <summary>How a blocking command's wait came to its end.</summary>
internal enum WaitEnd
{
    /// <summary>It has not.</summary>
    None,
    /// <summary>As if its time were over.</summary>
    TimedOut,
    /// <summary>CLIENT UNBLOCK with ERROR.</summary>
    Unblocked,
    /// <summary>The server is a replica now.</summary>
    RoleChanged,
    /// <summary>Somebody serves it.</summary>
    Served,
    /// <summary>The connection was closed.</summary>
    Left,
}
