using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>The keys are at hand, before anybody takes a lock: the last rule, for what is fetched is for a command that will run.</summary>
internal static class ResidencyRule
{
    internal static AdmissionResult Ask(ref Call call, in Question question)
    {
        AdmissionHooks hooks = call.Server.Hooks;
        AdmissionResult result = AdmissionResult.Allowed;
        if (hooks.Residency is { } residency)
            result = KeysAsked.Ask(ref call, in question, residency);
        return result.IsAllowed && hooks.Ahead is { } ahead ? KeysAsked.Ask(ref call, in question, ahead) : result;
    }
}
