using Garnet.Common;

namespace Garnet.Server;

/// <summary>Encrypted connections: of clients, and to other servers.</summary>
public sealed partial class TlsSettings
{
    [Setting("tls-port", "TCP port for encrypted connections, beside port; 0 for none.", Unit = SettingUnit.Count, Min = 0, Max = 65535)]
    public int Port { get; set; }

    /// <summary>Listen on any free TCP port, whatever <see cref="Port"/> says; for servers inside another process and for tests.</summary>
    public bool AnyPort { get; set; }

    [Setting("tls-cert-file", "This server's certificate in PEM, with those that vouch for it behind it.", Live = true)]
    public string CertificateFile { get; set; } = "";

    [Setting("tls-key-file", "Its private key in PEM.", Live = true)]
    public string KeyFile { get; set; } = "";

    [Setting("tls-key-file-pass", "What the private key is encrypted with; empty if it is not.", Live = true, Secret = true)]
    public string KeyPassword { get; set; } = "";

    [Setting("tls-client-cert-file", "The certificate shown to other servers, if it is not that of tls-cert-file.", Live = true)]
    public string ClientCertificateFile { get; set; } = "";

    [Setting("tls-client-key-file", "Its private key.", Live = true)]
    public string ClientKeyFile { get; set; } = "";

    [Setting("tls-client-key-file-pass", "What that is encrypted with; empty if it is not.", Live = true, Secret = true)]
    public string ClientKeyPassword { get; set; } = "";

    [Setting("tls-ca-cert-file", "Certificates in PEM of those who vouch for clients and for other servers.", Live = true)]
    public string AuthorityFile { get; set; } = "";

    [Setting("tls-ca-cert-dir", "A directory of such certificates, named as OpenSSL wants it (openssl rehash).", Live = true)]
    public string AuthorityDirectory { get; set; } = "";

    [Setting("tls-auth-clients", "Whether clients must show a certificate that one of them vouches for.", Values = "yes no optional", Live = true)]
    public TlsClientCheck ClientCheck { get; set; }

    [Setting("tls-auth-clients-user", "Which part of its certificate makes a client the user of that name: CN, or none.", Values = "off CN", Live = true)]
    public TlsClientUser ClientUser { get; set; }

    [Setting("tls-protocols", "Versions of TLS that may be spoken; empty for TLSv1.2 and TLSv1.3.", Live = true)]
    public TlsVersions Versions { get; set; } = TlsVersions.Default;

    [Setting("tls-ciphers", "Ciphers for versions up to TLSv1.2, as ciphers(1) has them; empty for OpenSSL's own choice.", Live = true)]
    public string Ciphers { get; set; } = "";

    [Setting("tls-ciphersuites", "Ciphers for TLSv1.3; empty for OpenSSL's own choice.", Live = true)]
    public string CipherSuites { get; set; } = "";

    [Setting("tls-prefer-server-ciphers", "Whether the server's order of ciphers counts, not the client's.", Live = true)]
    public bool PrefersOwnCiphers { get; set; }

    [Setting("tls-session-caching", "Whether clients that come again are spared most of the handshake.", Live = true)]
    public bool CachesSessions { get; set; } = true;

    [Setting("tls-session-cache-size", "Sessions kept for that; 0 for as many as there are.", Unit = SettingUnit.Count, Min = 0, Max = int.MaxValue, Live = true)]
    public int CachedSessionsMax { get; set; } = 20_480;

    [Setting("tls-session-cache-timeout", "For how long.", Unit = SettingUnit.Seconds, Min = 0, Max = int.MaxValue, Live = true)]
    public int CachedSessionSeconds { get; set; } = 300;

    [Setting("tls-handshake-timeout", "Closes a connection whose handshake takes longer.", Unit = SettingUnit.Seconds, Min = 1, Max = 3600, Live = true)]
    public int HandshakeSeconds { get; set; } = 10;

    [Setting("tls-replication", "Whether this server's link to its primary is encrypted, and its tls-port is told to others.", Live = true)]
    public bool OfReplication { get; set; }

    [Setting("tls-cluster", "Whether MIGRATE connects to its target by TLS.", Live = true)]
    public bool OfMigration { get; set; }

    /// <summary>True if clients may come by TLS.</summary>
    public bool Serves => Port > 0 || AnyPort;

    /// <summary>True if anything is encrypted at all.</summary>
    public bool IsUsed => Serves || OfReplication || OfMigration;
}
