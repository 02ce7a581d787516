using Garnet.Server.Commands;

namespace Garnet.Server.Admission;

/// <summary>Is asked about the keys of a command before it takes a lock: whether this server answers for them, or has them at hand.</summary>
internal interface IKeyRule
{
    /// <summary>
    /// May refuse, or let the command wait where <paramref name="mayWait"/>: it is framed and asked about again then. Called again for
    /// the next command of a transaction.
    /// </summary>
    AdmissionResult Ask(ref Call call, in KeyPositions keys, int database, bool mayWait);
}
