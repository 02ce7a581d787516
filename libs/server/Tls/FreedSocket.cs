using System.Net.Sockets;

namespace Garnet.Server.Tls;

/// <summary>A client's socket that a reactor has let go of, with what encrypts it: whoever goes on with one needs the other.</summary>
/// <param name="Socket">The socket, open.</param>
/// <param name="Session">What encrypts it; null if it is plain.</param>
/// <param name="HasLostUser">True once the user that the client was has been removed: it may not go on then.</param>
internal sealed record FreedSocket(Socket Socket, TlsSession? Session, Func<bool> HasLostUser);
