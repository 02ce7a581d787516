using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>Somebody has said who he is, where that is asked for.</summary>
internal static class AuthenticationRule
{
    internal static unsafe AdmissionResult Ask(ref Call call, in Question question) =>
        (call.Client.Modes & ClientModes.Unauthenticated) != 0 && (question.Entry->Flags & CommandFlags.NoAuth) == 0
            ? AdmissionResult.Refused(Fault.NoAuth)
            : AdmissionResult.Allowed;
}
