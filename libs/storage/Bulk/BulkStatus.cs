namespace Garnet.Bulk;

/// <summary>How a call or a transfer ended; the numbers are those of the native interface.</summary>
public enum BulkStatus
{
    Ok = 0,
    /// <summary>An argument that can never be right.</summary>
    Invalid = -1,
    /// <summary>No such endpoint, region, peer or transfer any more.</summary>
    Handle = -2,
    NoMemory = -3,
    Again = -4,
    Timeout = -5,
    Canceled = -6,
    /// <summary>The other side does not allow it: key, right, or memory that is not there.</summary>
    Key = -7,
    Range = -8,
    /// <summary>The other side is not there, or not whom it has to be.</summary>
    Peer = -9,
    Unsupported = -10,
    Busy = -11,
    IO = -12,
    Device = -13,
    Closed = -15,
    Version = -17,
    /// <summary>A transfer of this endpoint did not end in time: it takes nothing more.</summary>
    Poisoned = -18,
    /// <summary>The endpoint exposes nothing, or the system forbids it.</summary>
    Denied = -19,
}
