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
        Refusal refusal = RightsCheck.Of(ref call, question.Entry, rights, database);
        if (refusal.IsNone)
            return AdmissionResult.Allowed;
        Note(ref call, in question, user, in refusal);
        DenialTexts texts = refusal.Reason.Texts();
        return AdmissionResult.Refused(question.Asker switch
        {
            Asker.ScriptCall => "ERR " + texts.InScript,
            Asker.Executed => "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. "
                + "This command is no longer allowed for the following reason: " + texts.AtExec,
            _ => "NOPERM " + texts.Reply(NameOf(ref call, question.Entry)),
        });
    }

    /// <summary>Why the user may not run the command, as ACL DRYRUN says it; null if he may.</summary>
    internal static string? Explain(ref Call call, CommandEntry* entry, UserRights rights)
    {
        Refusal refusal = RightsCheck.Of(ref call, entry, rights, call.Client.Database);
        if (refusal.IsNone)
            return null;
        string what = refusal.What ?? RuleText.Of(refusal.At > 0 ? call.Shown(refusal.At) : default);
        return refusal.Reason.Texts().Explained(NameOf(ref call, entry), what);
    }

    /// <summary>True if the running command may look at keys that none of its arguments names.</summary>
    internal static bool MayLookElsewhere(ref Call call) => call.Client.User is not { Rights: var rights }
        || RightsCheck.ReadsAnyKey(ref call, call.Server.Commands.Entries + call.Client.LastCommand, rights, call.Client.Database);

    /// <summary>Another rule has refused the command.</summary>
    internal static void Note(ref Call call, in Question question) => Note(
        ref call, in question, call.Client.User, new Refusal(DenialReason.Command));

    private static void Note(ref Call call, in Question question, User? user, in Refusal refusal)
    {
        (ServerContext server, Connection client) = (call.Server, call.Client);
        string command = NameOf(ref call, question.Entry);
        string what = refusal.What ?? (refusal.At > 0 ? ArgumentOf(ref call, refusal.At) : command);
        var denial = new Denial(refusal.Reason, PlaceOf(client, question.Asker), what, user?.Name ?? Users.DefaultName)
        {
            UnixMs = call.NowMs,
            Client = ClientLine.Of(client, server),
        };
        Audited.Refused(ref call, command, refusal.Reason);
        server.Rights.Denials.Add(denial);
    }

    private static string ArgumentOf(ref Call call, int at) => RuleText.Of(call[at][..Math.Min(call[at].Length, DenialLog.ObjectBytesMax)]);

    private static string NameOf(ref Call call, CommandEntry* entry) => call.Server.Commands.Specs[entry->Id].Name.ToLowerInvariant();

    private static DenialPlace PlaceOf(Connection client, Asker asker)
    {
        if (asker == Asker.ScriptCall)
            return DenialPlace.Lua;
        return (client.Modes & ClientModes.Transaction) != 0 ? DenialPlace.Multi : DenialPlace.TopLevel;
    }
}
