using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>Says who may run what; <see cref="PermissionRule"/> asks.</summary>
internal interface IPermission
{
    /// <summary>May refuse; the client is <see cref="Call.Client"/>. Must not wait.</summary>
    AdmissionResult Ask(ref Call call, in Question question);
}
