using System.Net.Sockets;

namespace Garnet.Server.Tls;

/// <summary>A client's socket that a reactor has let go of, with what encrypts it: whoever goes on with one needs the other.</summary>
/// <param name="Socket">The socket, open.</param>
/// <param name="Session">What encrypts it; null if it is plain.</param>
internal sealed record FreedSocket(Socket Socket, TlsSession? Session);
