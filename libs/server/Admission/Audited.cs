using Garnet.Common;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Inspect;
using Garnet.Server.Rights;

namespace Garnet.Server.Admission;

/// <summary>What of commands and logins goes into the audit trail; each asks whether there is one.</summary>
internal static unsafe class Audited
{
    private const int NamesMax = 32, NameBytesMax = 256; // of users or settings that one event names
    private const string Untold = "?";

    /// <summary>A command of an administrator has run. Of its arguments the names of users and settings are told.</summary>
    internal static void Ran(ref Call call, CommandEntry* entry, Reply reply)
    {
        if (!call.Server.Monitoring.Audit.IsOn || reply == Reply.Postponed)
            return;
        string name = call.Server.Commands.Specs[entry->Id].Name.ToLowerInvariant();
        call.Server.Monitoring.Audit.Add(Event(ref call, "command", name) with
        {
            Result = reply == Reply.Failed ? "failed" : "ok",
            Names = NamesOf(ref call, name, reply == Reply.Failed),
        });
    }

    /// <summary>The user was refused the command.</summary>
    internal static void Refused(ref Call call, string command, DenialReason reason)
    {
        if (call.Server.Monitoring.Audit.IsOn)
            call.Server.Monitoring.Audit.Add(Event(ref call, "refused", command) with { Reason = reason.ToString().ToLowerInvariant() });
    }

    /// <summary>Somebody has shown to be a user, or has failed to.</summary>
    internal static void LoggedIn(ref Call call, ReadOnlySpan<byte> name, bool isRight)
    {
        if (!call.Server.Monitoring.Audit.IsOn)
            return;
        string command = call.Server.Commands.Specs[call.Client.LastCommand].Name.ToLowerInvariant();
        // Who forgets the name, or moves it, says the password in its place.
        string user = isRight || IsUser(ref call, name) ? Shown(name) : Untold;
        call.Server.Monitoring.Audit.Add(Event(ref call, isRight ? "login" : "login-failed", command) with { User = user });
    }

    /// <summary>A certificate has made the connection a user's.</summary>
    internal static void Certified(ServerContext server, Connection client)
    {
        if (!server.Monitoring.Audit.IsOn)
            return;
        string user = client.User!.Name;
        server.Monitoring.Audit.Add(new AuditEvent("login", server.Clock.UnixMs, user, client.Id, client.Peer.Remote, "tls"));
    }

    /// <summary>The name in a certificate is no user's, or one's who is off: whoever has it is nobody by it.</summary>
    internal static void NotCertified(ServerContext server, Connection client, string name)
    {
        if (server.Monitoring.Audit.IsOn)
            server.Monitoring.Audit.Add(new AuditEvent("login-failed", server.Clock.UnixMs, name, client.Id, client.Peer.Remote, "tls"));
    }

    private static AuditEvent Event(ref Call call, string kind, string command)
    {
        Connection client = call.Client;
        return new AuditEvent(kind, call.NowMs, client.User?.Name ?? "", client.Id, client.Peer.Remote, command);
    }

    private static List<string> NamesOf(ref Call call, string command, bool failed)
    {
        (int first, int step) = command switch
        {
            "config|set" => (2, 2),
            "acl|deluser" => (2, 1),
            "acl|setuser" => (2, int.MaxValue),
            _ => (0, 0),
        };
        var names = new List<string>();
        if (first == 0)
            return names;
        for (long i = first; i < call.Count && names.Count < NamesMax; i += step)
        {
            string name = Shown(call[(int)i]);
            // What is no setting may be a secret whose quotation marks were left out.
            bool maybeSecret = command == "config|set" ? !call.Server.Core.Table.TryFind(name, out _)
                : RuleText.MayHoldPassword(call[(int)i]) || (failed && command == "acl|setuser" && !IsUser(ref call, call[(int)i]));
            names.Add(maybeSecret ? Untold : name);
        }

        return names;
    }

    private static bool IsUser(ref Call call, ReadOnlySpan<byte> name) =>
        name.Length <= Users.NameBytesMax && call.Server.Rights.Users.Find(RuleText.Of(name)) is not null;

    private static string Shown(ReadOnlySpan<byte> name) => RuleText.Of(name[..Math.Min(name.Length, NameBytesMax)]);
}
