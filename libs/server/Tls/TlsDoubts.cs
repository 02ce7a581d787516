namespace Garnet.Server.Tls;

/// <summary>What of the settings can be used and is hardly what somebody wanted: a sentence each, with what to do.</summary>
internal static class TlsDoubts
{
    /// <summary>Looks at the settings, and at who may read the files that they name.</summary>
    internal static List<string> Of(TlsSettings settings)
    {
        if (!settings.IsUsed)
            return OfUnused(settings);
        return
        [
            .. OfClients(settings), .. OfAuthorities(settings.AuthorityDirectory), .. OfKey("tls-key-file", settings.KeyFile),
            .. OfKey("tls-client-key-file", settings.ClientKeyFile),
        ];
    }

    private static List<string> OfUnused(TlsSettings settings)
    {
        string name = settings.CertificateFile.Length > 0 ? "tls-cert-file" : "tls-key-file";
        return settings.CertificateFile.Length + settings.KeyFile.Length == 0 ? []
            : [$"{name} has no effect, nothing is encrypted: set tls-port, or tls-replication or tls-cluster"];
    }

    private static IEnumerable<string> OfClients(TlsSettings settings)
    {
        if (settings.Serves && settings.ClientCheck == TlsClientCheck.No && settings.ClientUser != TlsClientUser.Off)
        {
            yield return "tls-auth-clients-user has no effect, since tls-auth-clients no asks clients for no certificate: "
                + "set tls-auth-clients yes or optional";
        }
    }

    private static IEnumerable<string> OfAuthorities(string directory)
    {
        if (!Directory.Exists(directory)) // it has gone since: whoever loads from it says so
            yield break;
        IEnumerable<string> files = Directory.EnumerateFiles(directory, "*", new EnumerationOptions());
        if (!files.Any(static path => IsLookedFor(Path.GetFileName(path))))
        {
            yield return $"tls-ca-cert-dir {directory} has no file by a name that OpenSSL looks for, so nobody is believed by it: "
                + $"run openssl rehash {directory}";
        }
    }

    // A hash of whom it is of, and a number: 5ed36f99.0
    private static bool IsLookedFor(string name) =>
        name is { Length: > 9 } && name[8] == '.' && name.Take(8).All(char.IsAsciiHexDigitLower) && char.IsAsciiDigit(name[9]);

    private static IEnumerable<string> OfKey(string name, string path)
    {
        if (OperatingSystem.IsWindows() || !File.Exists(path))
            yield break;
        if (File.GetUnixFileMode(path).HasFlag(UnixFileMode.OtherRead))
            yield return $"{name} {path} can be read by everybody on this machine: chmod o= {path}";
    }
}
