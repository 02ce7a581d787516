namespace Tsavorite;

/// <summary>How a snapshot stands.</summary>
public enum SnapshotState
{
    /// <summary>Records are still to come.</summary>
    Running,

    /// <summary>The sink has every record of the cut.</summary>
    Whole,

    /// <summary>Writers needed more memory for what they saved than was allowed or to be had; what the sink has is not whole.</summary>
    OutOfRoom,

    /// <summary>Disposed of before it was whole, or a step of it threw.</summary>
    Abandoned,
}
