namespace Garnet.Server.Commands;

/// <summary>Says who may run what; <see cref="PermissionRule"/> asks.</summary>
internal interface IPermission
{
    /// <summary>
    /// May refuse; the client is <see cref="Call.Client"/>. Must not wait. Of a transaction it is asked for every command when that is queued, and
    /// again for EXEC and each command that this will run: one refusal and none of them runs. (Redis 7.0 answers the one with NOPERM and runs the others.)
    /// </summary>
    AdmissionResult Ask(ref Call call, in Question question);
}
