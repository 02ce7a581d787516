namespace Garnet.Server.Bulk;

/// <summary>How a transfer ended.</summary>
internal enum TransferEnd : byte
{
    /// <summary>All bytes are there.</summary>
    Done,
    /// <summary>The client's memory is not to be had under that name.</summary>
    Key,
    /// <summary>It is shorter than the client has said.</summary>
    Range,
    /// <summary>It took too long.</summary>
    Timeout,
    /// <summary>The session, or the client's side of it, has ended.</summary>
    Closed,
    /// <summary>The value is not the one that the client asked for: nothing was moved.</summary>
    OtherVersion,
}
