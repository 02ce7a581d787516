using Garnet.Server.Commands;
using Garnet.Server.Sessions;

namespace Garnet.Server.Admission;

/// <summary>No CLIENT PAUSE holds it.</summary>
internal static class PauseRule
{
    internal static AdmissionResult Ask(ref Call call, in Question question) =>
        call.Server.Pause.Holds(question.Flags, call.NowMs) && question.MayWait(ref call)
            ? AdmissionResult.Until(new PausedCommand(call.Server.Pause))
            : AdmissionResult.Allowed;
}
