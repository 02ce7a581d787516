using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace Garnet.Wire.Tls;

/// <summary>An authority, and certificates that it vouches for, in files of a folder of their own; made anew for each run, and gone with it.</summary>
internal sealed class TestCertificates : IDisposable
{
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("garnet-tls-");
    private readonly X509Certificate2 _authority;

    public TestCertificates()
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        CertificateRequest request = new("CN=test authority", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign | X509KeyUsageFlags.CrlSign, true));
        _authority = request.CreateSelfSigned(DateTimeOffset.UtcNow.AddYears(-10), DateTimeOffset.UtcNow.AddYears(10));
        AuthorityFile = Write("ca.crt", _authority.ExportCertificatePem());
        Make("server", "CN=localhost");
        Make("client", "CN=orders");
    }

    public string Folder => _folder.FullName;

    public string AuthorityFile { get; }

    public string ServerCertificate => Path("server.crt");

    public string ServerKey => Path("server.key");

    public string ClientCertificate => Path("client.crt");

    public string ClientKey => Path("client.key");

    /// <summary>The command line of a server that uses them.</summary>
    public string Flags => $"--tls-cert-file {ServerCertificate} --tls-key-file {ServerKey} --tls-ca-cert-file {AuthorityFile}";

    /// <summary>Where a file of that name lies, or would.</summary>
    public string Path(string name) => System.IO.Path.Combine(_folder.FullName, name);

    /// <summary>Writes a file; where.</summary>
    public string Write(string name, string text)
    {
        File.WriteAllText(Path(name), text);
        return Path(name);
    }

    /// <summary>Makes NAME.crt and NAME.key, valid between days from now, the key encrypted if there is a password.</summary>
    public void Make(string name, string subject, int fromDays = -1, int toDays = 30, string password = "") =>
        Make(name, new X500DistinguishedName(subject), fromDays, toDays, password);

    /// <summary>The same with a name that no text can say.</summary>
    public void Make(string name, X500DistinguishedName subject, int fromDays = -1, int toDays = 30, string password = "")
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        CertificateRequest request = new(subject, key, HashAlgorithmName.SHA256);
        SubjectAlternativeNameBuilder names = new();
        names.AddDnsName("localhost");
        names.AddIpAddress(System.Net.IPAddress.Loopback);
        request.CertificateExtensions.Add(names.Build());
        byte[] serial = RandomNumberGenerator.GetBytes(16);
        serial[0] &= 0x7F;
        DateTimeOffset now = DateTimeOffset.UtcNow;
        using X509Certificate2 made = request.Create(_authority, now.AddDays(fromDays), now.AddDays(toDays), serial);
        Write(name + ".crt", made.ExportCertificatePem());
        PbeParameters way = new(PbeEncryptionAlgorithm.Aes256Cbc, HashAlgorithmName.SHA256, 1000);
        Write(name + ".key", password.Length > 0 ? key.ExportEncryptedPkcs8PrivateKeyPem(password, way) : key.ExportPkcs8PrivateKeyPem());
    }

    /// <summary>The client's side over a connected stream: the framework's own, not what the server uses.</summary>
    /// <param name="stream">The connection.</param>
    /// <param name="client">Whose certificate is shown: the name of a pair of files; empty for none.</param>
    /// <param name="versions">What may be spoken.</param>
    public SslStream Over(Stream stream, string client = "client", SslProtocols versions = SslProtocols.None)
    {
        SslStream encrypted = new(stream, leaveInnerStreamOpen: false);
        SslClientAuthenticationOptions options = new()
        {
            TargetHost = "localhost",
            EnabledSslProtocols = versions,
            CertificateChainPolicy = new X509ChainPolicy
            {
                TrustMode = X509ChainTrustMode.CustomRootTrust,
                CustomTrustStore = { _authority },
                RevocationMode = X509RevocationMode.NoCheck,
            },
        };
        if (client.Length > 0) options.ClientCertificates = [X509Certificate2.CreateFromPemFile(Path(client + ".crt"), Path(client + ".key"))];
        try
        {
            encrypted.AuthenticateAsClient(options);
            return encrypted;
        }
        catch
        {
            encrypted.Dispose();
            throw;
        }
    }

    public void Dispose()
    {
        _authority.Dispose();
        _folder.Delete(recursive: true);
    }
}
