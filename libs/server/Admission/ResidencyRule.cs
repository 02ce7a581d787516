using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>The keys are at hand, before anybody takes a lock: the last rule, for what is fetched is for a command that will run.</summary>
internal static class ResidencyRule
{
    internal static AdmissionResult Ask(ref Call call, in Question question) =>
        (call.Server.Hooks.Residency ?? call.Server.Hooks.Ahead) is { } residency
            ? KeysAsked.Ask(ref call, in question, residency, !question.IsFor(Asker.ScriptCall))
            : AdmissionResult.Allowed;
}
