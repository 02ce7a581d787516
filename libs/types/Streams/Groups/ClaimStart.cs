namespace Garnet.Types.Streams;

/// <summary>How a claim began.</summary>
public struct ClaimStart
{
    public ClaimTarget Target;
    /// <summary>There is such a group; another client may have removed it.</summary>
    public bool Found;
    public bool IsNewConsumer;
}
