namespace Garnet.Server.Test.Net;

/// <summary>How a test's clients reach its server.</summary>
internal enum Route
{
    /// <summary>Epoll.</summary>
    Epoll,
    /// <summary>The framework's sockets.</summary>
    Sockets,
    /// <summary>TLS over epoll.</summary>
    Tls,
}
