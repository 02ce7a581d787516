using Garnet.Server.Clients;
using Garnet.Server.Tls;

namespace Garnet.Server.Net;

/// <summary>A connection that is not one yet: its handshake is under way.</summary>
internal sealed class Handshake(int descriptor, PeerAddress peer, long deadlineUs)
{
    internal int Descriptor => descriptor;

    internal PeerAddress Peer => peer;

    /// <summary>When it is given up.</summary>
    internal long DeadlineUs => deadlineUs;

    /// <summary>Its end of the encryption; made when its turn comes.</summary>
    internal TlsSession? Session { get; set; }

    /// <summary>True if the socket is watched for room to write into, false if for bytes to read.</summary>
    internal bool AwaitsRoom { get; set; }
}
