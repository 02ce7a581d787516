using Garnet.Server.Commands;
using Garnet.Server.Inspect;
using Garnet.Server.Rights;

namespace Garnet.Server.Telemetry;

/// <summary>
/// Who looks is one of the server's users. Whoever needs no password is that user from this machine only: what protected-mode is for clients holds here always. What fails stands in
/// ACL LOG and the audit trail, as with AUTH.
/// </summary>
internal static class ViewerLogin
{
    private const string By = "admin-port"; // in place of a command

    /// <summary>Whom everybody on this machine is; null if the default user has a password.</summary>
    internal static Viewer? Anybody(ServerContext server, bool isLocal) =>
        isLocal && server.Rights.Users.IsOpen ? new Viewer(server, server.Rights.Users.Default) : null;

    /// <summary>The user of that name; null if the password is wrong, or he needs none and comes from elsewhere.</summary>
    internal static Viewer? LogIn(ServerContext server, ReadOnlySpan<byte> name, ReadOnlySpan<byte> password, bool isLocal, string from)
    {
        User? user = server.Rights.Users.Authenticate(name, password);
        string said = RuleText.Of(name[..Math.Min(name.Length, DenialLog.ObjectBytesMax)]);
        bool isRight = user is not null && (isLocal || !user.Rights.NeedsNoPassword);
        Audit(server, said, isRight, from);
        if (isRight)
            return new Viewer(server, user!);
        var denial = new Denial(DenialReason.Auth, DenialPlace.TopLevel, By, said)
        {
            UnixMs = server.Clock.UnixMs, Client = ClientLine.OfStranger(from),
        };
        server.Rights.Denials.Add(denial);
        return null;
    }

    private static void Audit(ServerContext server, string name, bool isRight, string from)
    {
        // Who forgets the name says the password in its place.
        string user = isRight || server.Rights.Users.Find(name) is not null ? name : "?";
        if (server.Monitoring.Audit.IsOn)
            server.Monitoring.Audit.Add(new AuditEvent(isRight ? "login" : "login-failed", server.Clock.UnixMs, user, 0, from, By));
    }
}
