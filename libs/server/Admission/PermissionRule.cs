using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>Whoever asks has a right to the command: DEBUG and MODULE by setting, all others by <see cref="IPermission"/>.</summary>
internal static class PermissionRule
{
    internal static unsafe AdmissionResult Ask(ref Call call, in Question question)
    {
        Server server = call.Server;
        if (question.Is(CommandFlags.Protected) && !server.AllowsProtected(call.Client, server.Commands.Specs[question.Entry->Id], out string refusal))
            return AdmissionResult.Refused(refusal);
        return server.Hooks.Permission is { } permission ? permission.Ask(ref call, in question) : AdmissionResult.Allowed;
    }
}
