using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>
/// Whoever asks has a right to the command: DEBUG and MODULE by setting, all others by the rights of his user and by <see cref="IPermission"/>. Rights may have been taken away
/// since a command was queued: of its user each is asked about again when EXEC comes to it (as Redis does), the other before anything runs.
/// </summary>
internal static unsafe class PermissionRule
{
    internal static AdmissionResult Ask(ref Call call, in Question question)
    {
        ServerContext server = call.Server;
        if (question.Is(CommandFlags.Protected)
            && !server.ClientLimits.AllowsProtected(call.Client, server.Commands.Specs[question.Entry->Id], out string refusal))
            return AdmissionResult.Refused(refusal);
        AdmissionResult ofUser = UserRefusals.Ask(ref call, in question);
        if (!ofUser.IsAllowed || question.IsFor(Asker.Executed) || server.Hooks.Permission is not { } permission)
            return ofUser;
        AdmissionResult result = permission.Ask(ref call, in question);
        if (!result.Error.IsEmpty)
            UserRefusals.Note(ref call, in question);
        bool goesOn = result.IsAllowed && (question.Entry->Flags & CommandFlags.RunsQueue) != 0;
        return goesOn ? AskQueued(ref call, permission) : result;
    }

    private static AdmissionResult AskQueued(ref Call exec, IPermission permission) =>
        exec.Worker.Transactions.AskQueued(ref exec,
            (ref Call call, CommandEntry* entry, int _) =>
            {
                Question question = new(Asker.Client, entry, entry->Flags);
                AdmissionResult result = permission.Ask(ref call, in question);
                if (!result.Error.IsEmpty)
                    UserRefusals.Note(ref call, in question);
                return result;
            });
}
