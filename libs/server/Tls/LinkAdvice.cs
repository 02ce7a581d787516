namespace Garnet.Server.Tls;

/// <summary>
/// Why a connection to another server failed, for whoever set it up: with the setting here that decides whether it is encrypted, and what to do
/// next.
/// </summary>
internal sealed class LinkAdvice
{
    // A record of TLS that is an alert: how an encrypted port answers plain bytes.
    private const char AlertRecord = '\x15';

    private readonly string _setting, _command;

    private LinkAdvice(string setting, string command) => (_setting, _command) = (setting, command);

    /// <summary>Of a link to a primary or a replica.</summary>
    internal static LinkAdvice OfReplication { get; } = new("tls-replication", "REPLICAOF");

    /// <summary>Of what MIGRATE connects to.</summary>
    internal static LinkAdvice OfMigration { get; } = new("tls-cluster", "MIGRATE");

    /// <summary>Of one that asks this machine's own server whether it lives.</summary>
    internal static LinkAdvice OfPing { get; } = new("tls-port", "--tls-port");

    /// <summary>An encrypted connection was not answered, or was closed, before both had agreed.</summary>
    internal string NoHandshake(string how) =>
        $"it {how} in the handshake of TLS: name its tls-port in {_command}, or set {_setting} no here; "
        + "if it is that port, its log says why";

    /// <summary>A plain connection was closed before anything had been answered.</summary>
    internal string ClosedUnheard =>
        "it closed the connection and answered nothing: "
        + $"if that is its tls-port, set {_setting} yes here, or name its plain port in {_command}";

    /// <summary>What a line is that a plain connection was answered with; null if it is no TLS.</summary>
    internal string? IfTls(string line) =>
        line.StartsWith(AlertRecord) ? $"it answers in TLS: set {_setting} yes here, or name its plain port in {_command}" : null;

    /// <summary>What OpenSSL found wrong.</summary>
    internal string Of(string fault)
    {
        if (TlsFault.IsNoTls(fault))
            return $"what it answers is no TLS ({fault}): name its tls-port in {_command}, or set {_setting} no here";
        return $"TLS failed: {fault}{Next(fault)}";
    }

    private static string Next(string fault)
    {
        if (TlsFault.IsDisbelief(fault) && IsOfTime(fault))
            return ". Give that server another one, or check the clocks";
        if (TlsFault.IsDisbelief(fault))
            return ". Name who vouches for it in tls-ca-cert-file here";
        if (!fault.Contains(" alert ", StringComparison.Ordinal))
            return "";
        if (fault.EndsWith("certificate required", StringComparison.Ordinal))
            return ". It wants a certificate: set tls-client-cert-file and tls-client-key-file here, or tls-auth-clients no there";
        if (fault.EndsWith("protocol version", StringComparison.Ordinal))
            return ". No version is allowed by tls-protocols on both sides";
        if (fault.EndsWith("handshake failure", StringComparison.Ordinal))
            return ". It wants a certificate (tls-client-cert-file here), or there is no cipher for both (tls-ciphers); its log says why";
        return IsDisbeliefThere(fault)
            ? ". It does not believe this server's certificate (tls-client-cert-file, or tls-cert-file): "
                + "its tls-ca-cert-file must name who vouches for that"
            : "";
    }

    // An authority that was made anew under its old name is told as "decrypt error".
    private static bool IsDisbeliefThere(string fault) => fault.Contains("certificate", StringComparison.Ordinal)
        || fault.EndsWith("unknown ca", StringComparison.Ordinal) || fault.EndsWith("decrypt error", StringComparison.Ordinal);

    private static bool IsOfTime(string fault) =>
        fault.EndsWith("has expired", StringComparison.Ordinal) || fault.EndsWith("not yet valid", StringComparison.Ordinal);
}
