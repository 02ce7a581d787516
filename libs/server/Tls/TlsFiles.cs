using System.Security.Cryptography;
using System.Text;
using Garnet.Common;
using Garnet.Common.Linux;

namespace Garnet.Server.Tls;

/// <summary>The files that settings name, read once: can they be, and are they still the same? Modification times are no answer, since a link may be turned.</summary>
internal static class TlsFiles
{
    private const int BytesMax = 4 << 20; // all certificate authorities of a system are an eighth of it

    /// <summary>A digest of what all of them hold.</summary>
    /// <exception cref="GarnetException">One of them cannot be read; it says which.</exception>
    internal static string Digest(TlsSettings settings)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        foreach ((string name, string path) in Named(settings))
        {
            byte[] content = Read(name, path);
            hash.AppendData(Encoding.UTF8.GetBytes($"{name} {path} {content.Length}\n"));
            hash.AppendData(content);
            CryptographicOperations.ZeroMemory(content);
        }

        return Convert.ToHexString(hash.GetHashAndReset());
    }

    /// <summary>True if a file holds a key that needs a password, as all ways to encrypt one in PEM say in it.</summary>
    internal static bool IsEncrypted(string name, string path) => Read(name, path).AsSpan().IndexOf("ENCRYPTED"u8) >= 0;

    private static IEnumerable<(string Name, string Path)> Named(TlsSettings settings) => new[]
    {
        ("tls-cert-file", settings.CertificateFile), ("tls-key-file", settings.KeyFile),
        ("tls-client-cert-file", settings.ClientCertificateFile), ("tls-client-key-file", settings.ClientKeyFile),
        ("tls-ca-cert-file", settings.AuthorityFile),
    }.Where(static one => one.Item2.Length > 0);

    private static byte[] Read(string name, string path)
    {
        const string Next = "Name a file in PEM that the user of this process may read";
        try
        {
            return PlainFile.Read(path, BytesMax);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new GarnetException(ExitKind.Configuration, $"{name} {path}", $"it cannot be read: {e.Message}", Next);
        }
    }
}
