using Garnet.Common.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Server.Inspect;
using Garnet.Server.Replication;

namespace Garnet.Server.Admission;

/// <summary>
/// The server's role allows it: a replica takes no writes, nor shows data it does not have or may not; a primary may want replicas near.
/// What only a primary does, or does otherwise than a replica, waits while the role changes.
/// </summary>
internal static class RoleRule
{
    internal static AdmissionResult Ask(ref Call call, in Question question)
    {
        RoleAccess access = call.Server.Replication.Access;
        RoleState role = call.Server.Replication.Role;
        if (!access.IsAsked)
            return AdmissionResult.Allowed;
        bool dependsOnRole = question.Is(CommandFlags.Write | CommandFlags.ByRole);
        bool waits = dependsOnRole && role.IsChanging && !role.IsReplica && question.MayWait(ref call);
        if (waits)
            return AdmissionResult.Until(new RoleWait(role));
        if (question.Is(CommandFlags.Write))
        {
            AdmissionResult result = AskWrite(ref call, in question);
            if (!result.IsAllowed)
                return result;
        }

        if (access.IsLoading && !question.Is(CommandFlags.Loading | CommandFlags.Admin)) // whoever may send it elsewhere must get through
            return AdmissionResult.Refused(Fault.Loading);
        if (!access.IsStale || question.Is(CommandFlags.Stale))
            return AdmissionResult.Allowed;
        return AdmissionResult.Refused(question.IsFor(Asker.ScriptCall) ? Fault.PrimaryDownScript : Fault.PrimaryDown);
    }

    private static AdmissionResult AskWrite(ref Call call, in Question question)
    {
        if (call.Server.Replication.IsReplica)
        {
            return question.Asker switch
            {
                Asker.Undeclared => AdmissionResult.Allowed, // it may turn out to write nothing
                Asker.Declared => AdmissionResult.Refused(Fault.ReadOnlyReplicaScript),
                _ => AdmissionResult.Refused(Fault.ReadOnlyReplica),
            };
        }

        return !question.IsFor(Asker.Undeclared) && call.Server.Replication.Access.LacksReplicas
            ? AdmissionResult.Refused(call.Server.Refusals.Noted(RefusalCause.Replicas))
            : AdmissionResult.Allowed;
    }
}
