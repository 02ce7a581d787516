namespace Garnet.Types.HyperLogLogs;

/// <summary>Why a value is refused.</summary>
public enum HyperLogLogFault : byte
{
    None,
    WrongKind,
    /// <summary>A string, but no HyperLogLog.</summary>
    Foreign,
    Damaged,
}
