namespace Garnet.Server.Clients;

/// <summary>What a transport looks for on a connection, where that is not just that it can be read.</summary>
[Flags]
internal enum WatchedFor
{
    Readable = 0,
    /// <summary>Not that it can be read: it is stopped.</summary>
    NotReadable = 1,
    /// <summary>Also that it can be written: replies wait.</summary>
    Writable = 2,
    /// <summary>A command waits: only that it goes.</summary>
    Parked = 4,
}
