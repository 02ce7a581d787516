namespace Tsavorite;

/// <summary>How far a <see cref="ColdRead"/> is.</summary>
internal enum ColdReadState
{
    Queued,
    UnderWay,
    Ready,
    /// <summary>The medium failed, or the checksum is wrong.</summary>
    Failed,
}
