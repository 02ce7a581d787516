namespace Garnet.Server.Commands;

/// <summary>Says who may run what; <c>PermissionRule</c> of Admission asks.</summary>
internal interface IPermission
{
    /// <summary>
    /// May refuse; the client is <see cref="Call.Client"/>, the command <see cref="Question.Entry"/>. Must not wait. Of a transaction it is asked for every command when that is queued, and
    /// again for EXEC and each command that this will run: one refusal and none of them runs. Of a command that has waited for a key it is asked again
    /// before that is served, on the thread of whoever wrote the key. (Redis 7.0 answers the one with NOPERM and runs the others.)
    /// </summary>
    AdmissionResult Ask(ref Call call, in Question question);
}
