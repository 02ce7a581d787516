using System.Globalization;
using Garnet.Common;

namespace Garnet.Migration;

/// <summary>Where a server is and who asks it: <c>redis://user:password@host:port</c>, or host and port alone. Its text never has the password.</summary>
public sealed record ServerAddress(string Host, int Port, string User, string Password)
{
    private const int DefaultPort = 6379, DefaultWaitSeconds = 60;
    private const string Scheme = "redis://", ValkeyScheme = "valkey://", Local = "unix:";
    private static readonly string[] s_encrypted = ["rediss://", "valkeys://"];

    /// <summary>How long it may say nothing where it has to say something.</summary>
    public int WaitSeconds { get; init; } = DefaultWaitSeconds;

    /// <summary>Reads one. <paramref name="password"/>: the one to use where it names none.</summary>
    public static ServerAddress Parse(string text, string password)
    {
        ArgumentNullException.ThrowIfNull(text);
        if (Array.Exists(s_encrypted, scheme => text.StartsWith(scheme, StringComparison.Ordinal)))
            throw Wrong("migrate does not speak TLS", "Put a tunnel (stunnel, an SSH forward) in between and name its near end");
        if (text.StartsWith(Local, StringComparison.Ordinal) || text.StartsWith('/'))
        {
            throw Wrong("migrate connects by TCP, not to the path of a socket",
                "Have that server listen on a port of 127.0.0.1 too, and name it");
        }
        if (text.StartsWith(ValkeyScheme, StringComparison.Ordinal))
            text = text[ValkeyScheme.Length..];
        string full = text.StartsWith(Scheme, StringComparison.Ordinal) ? text : Scheme + text;
        if (!Uri.TryCreate(full, UriKind.Absolute, out Uri? uri) || uri.Host.Length == 0)
            throw Wrong("it cannot be read", "Write redis://host:port, with user:password@ before the host if it wants them");
        if (uri.AbsolutePath is not ("" or "/"))
            throw Wrong("it names a database", "Leave it out: all databases are taken");
        string[] who = uri.UserInfo.Split(':', 2);
        string user = who.Length == 2 ? Uri.UnescapeDataString(who[0]) : "";
        string said = Uri.UnescapeDataString(who[^1]);
        return new(uri.DnsSafeHost, uri.Port > 0 ? uri.Port : DefaultPort, user, said.Length > 0 ? said : password);
    }

    /// <inheritdoc/>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Host}:{Port}");

    private static GarnetException Wrong(string why, string next) => new(ExitKind.Configuration, "an address cannot be used", why, next);
}
