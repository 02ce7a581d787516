namespace Garnet.Server.Inspect;

/// <summary>Something that may have to be looked up afterwards. Never holds a value, a key, a password or a rule.</summary>
/// <param name="Kind">What happened: <c>login</c>, <c>login-failed</c>, <c>refused</c>, <c>command</c>.</param>
/// <param name="UnixMs">When.</param>
/// <param name="User">Who; as what somebody wanted to log in, if that failed.</param>
/// <param name="ClientId">Over which connection.</param>
/// <param name="Address">From where.</param>
/// <param name="Command">By which command; <c>tls</c> for a certificate.</param>
internal sealed record AuditEvent(string Kind, long UnixMs, string User, long ClientId, string Address, string Command)
{
    /// <summary>Why it was refused; empty if that does not apply.</summary>
    internal string Reason { get; init; } = "";

    /// <summary>How the command has ended.</summary>
    internal string Result { get; init; } = "";

    /// <summary>The names of users or settings that it is about.</summary>
    internal IReadOnlyList<string> Names { get; init; } = [];
}
