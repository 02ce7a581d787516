namespace Garnet.Server;

/// <summary>How bytes reach the server.</summary>
public enum TransportKind
{
    /// <summary>epoll where it exists, sockets elsewhere.</summary>
    Auto,
    Epoll,
    Sockets,
}
