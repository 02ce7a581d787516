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
        // What is woken is served by another's session, which cannot fetch for it: it waits for what it comes to there.
        bool isAsked = hooks.Ahead is not null && result.IsAllowed && !question.IsFor(Asker.Woken);
        return isAsked ? KeysAsked.Ask(ref call, in question, hooks.Ahead!) : result;
    }
}
