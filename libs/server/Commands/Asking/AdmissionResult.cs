using System.Text;
using Garnet.Common.Resp;
using Garnet.Server.Clients;

namespace Garnet.Server.Commands;

/// <summary>What a rule says: the command may run, is refused with an error, or waits and is asked about again.</summary>
internal readonly struct AdmissionResult
{
    private static readonly byte[][] OfFaults = Array.ConvertAll(Enum.GetValues<Fault>(), static fault => FaultText.Of(fault).ToArray());

    private readonly byte[]? _error;

    private AdmissionResult(byte[]? error, Parking? wait)
    {
        _error = error;
        Wait = wait;
    }

    /// <summary>Nothing stands between, as far as this rule goes.</summary>
    internal static AdmissionResult Allowed => default;

    /// <summary>The error line without its sign, the code in front; empty if there is none.</summary>
    internal ReadOnlySpan<byte> Error => _error;

    /// <summary>What the command waits for, before it has done anything.</summary>
    internal Parking? Wait { get; }

    internal bool IsAllowed => _error is null && Wait is null;

    internal static AdmissionResult Refused(ReadOnlySpan<byte> error) => new(error.ToArray(), null);

    /// <summary>With a text that many are answered, kept by somebody else.</summary>
    internal static AdmissionResult Refused(byte[] error) => new(error, null);

    internal static AdmissionResult Refused(string error) => new(Encoding.Latin1.GetBytes(error), null);

    internal static AdmissionResult Refused(Fault fault) => Refused(OfFaults[(int)fault]);

    /// <summary>
    /// The command waits, and is asked about again. The wait needs an end: a <see cref="Parking.DeadlineMs"/> (<see cref="Parking.EveryTick"/> to be looked
    /// at with every tick), or somebody who has it resumed; one with <see cref="Parking.Never"/> that nobody resumes hangs for ever.
    /// </summary>
    internal static AdmissionResult Until(Parking wait) => new(null, wait);
}
