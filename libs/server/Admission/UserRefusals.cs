using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Rights;

namespace Garnet.Server.Admission;

/// <summary>The rights of a command's user: what he is refused, in words of <see cref="DenialReasons"/> by who asks, and noted (ACL LOG).</summary>
internal static unsafe class UserRefusals
{
    /// <summary>Refuses what the client's user may not.</summary>
    internal static AdmissionResult Ask(ref Call call, in Question question)
    {
        if (call.Client.User is not { Rights: { AllowsEverything: false } rights } user)
            return AdmissionResult.Allowed;
        if (question.IsFor(Asker.ScriptCall) && question.Is(CommandFlags.NoScript))
            return AdmissionResult.Allowed; // refused in a moment, whoever asks
        int database = question.IsFor(Asker.Queued) ? call.Client.Transaction!.Database ?? call.Client.Database : call.Client.Database;
        DenialReason reason = RightsCheck.Of(ref call, question.Entry, rights, database, out int at);
        if (reason == DenialReason.None)
            return AdmissionResult.Allowed;
        Note(ref call, question.Entry, user, reason, at, PlaceOf(call.Client, question.Asker));
        return AdmissionResult.Refused(question.Asker switch
        {
            Asker.ScriptCall => "ERR " + reason.Texts().InScript,
            Asker.Executed => "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. "
                + "This command is no longer allowed for the following reason: " + reason.Texts().AtExec,
            _ => "NOPERM " + reason.Texts().Reply(NameOf(ref call, question.Entry)),
        });
    }

    /// <summary>Why the user may not run the command, as ACL DRYRUN says it; null if he may.</summary>
    internal static string? Explain(ref Call call, CommandEntry* entry, UserRights rights)
    {
        DenialReason reason = RightsCheck.Of(ref call, entry, rights, call.Client.Database, out int at);
        if (reason == DenialReason.None)
            return null;
        return reason.Texts().Explained(NameOf(ref call, entry), RuleText.Of(at > 0 ? call.Shown(at) : default));
    }

    /// <summary>True if the running command may look at keys that none of its arguments names.</summary>
    internal static bool MayLookElsewhere(ref Call call) => call.Client.User is not { Rights: var rights }
        || RightsCheck.ReadsAnyKey(ref call, call.Server.Commands.Entries + call.Client.LastCommand, rights);

    /// <summary>Another rule has refused the command.</summary>
    internal static void Note(ref Call call, in Question question) => Note(
        ref call, question.Entry, call.Client.User, DenialReason.Command, at: 0, PlaceOf(call.Client, question.Asker));

    private static void Note(ref Call call, CommandEntry* entry, User? user, DenialReason reason, int at, DenialPlace place)
    {
        ReadOnlySpan<byte> argument = at > 0 ? call[at] : default;
        string what = RuleText.Of(argument[..Math.Min(argument.Length, DenialLog.ObjectBytesMax)]);
        (ServerContext server, Connection client) = (call.Server, call.Client);
        var denial = new Denial(reason, place, at == 0 ? NameOf(ref call, entry) : what, user?.Name ?? Users.DefaultName)
        {
            UnixMs = call.NowMs,
            Client = ClientLine.Of(client, server),
        };
        Audited.Refused(ref call, NameOf(ref call, entry), reason);
        server.Rights.Denials.Add(denial);
    }

    private static string NameOf(ref Call call, CommandEntry* entry) => call.Server.Commands.Specs[entry->Id].Name.ToLowerInvariant();

    private static DenialPlace PlaceOf(Connection client, Asker asker)
    {
        if (asker == Asker.ScriptCall)
            return DenialPlace.Lua;
        return (client.Modes & ClientModes.Transaction) != 0 ? DenialPlace.Multi : DenialPlace.TopLevel;
    }
}
