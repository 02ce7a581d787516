namespace Garnet.Server;

/// <summary>Which part of a client's certificate names its user (<c>tls-auth-clients-user</c>).</summary>
public enum TlsClientUser
{
    /// <summary>None.</summary>
    Off,
    /// <summary>The common name of its subject.</summary>
    Cn,
}
