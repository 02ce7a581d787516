using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>This server answers for the keys: all of them, unless somebody has told it which.</summary>
internal static class OwnershipRule
{
    internal static AdmissionResult Ask(ref Call call, in Question question) =>
        call.Server.Hooks.Ownership is { } ownership
            ? KeysAsked.Ask(ref call, in question, ownership)
            : AdmissionResult.Allowed;
}
