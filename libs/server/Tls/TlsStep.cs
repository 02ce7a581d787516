namespace Garnet.Server.Tls;

/// <summary>How a step of a <see cref="TlsSession"/> ended that moved no bytes; as numbers they are below every count of bytes.</summary>
internal enum TlsStep
{
    /// <summary>It is through.</summary>
    Done = 0,
    /// <summary>The socket must have bytes first.</summary>
    WantsRead = -1,
    /// <summary>The socket must take bytes first.</summary>
    WantsWrite = -2,
    /// <summary>The peer sends nothing more.</summary>
    Ended = -3,
    /// <summary>The session is of no use any more (<see cref="TlsSession.Fault"/>).</summary>
    Broken = -4,
}
