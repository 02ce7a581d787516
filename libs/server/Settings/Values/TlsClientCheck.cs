namespace Garnet.Server;

/// <summary>Whether clients must show a certificate (<c>tls-auth-clients</c>).</summary>
public enum TlsClientCheck
{
    /// <summary>They must.</summary>
    Yes,
    /// <summary>They are not asked for one.</summary>
    No,
    /// <summary>They may; one that is shown must be good.</summary>
    Optional,
}
