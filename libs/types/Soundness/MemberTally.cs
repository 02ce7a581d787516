namespace Garnet.Types.Soundness;

/// <summary>What was found in a collection's chunks, to be compared with what its root and its other parts say.</summary>
public struct MemberTally
{
    public long Count;
    public long Bytes;
    /// <summary>Over members and scores of a sorted set.</summary>
    public ulong Scores;
    /// <summary>Entries with an expiry.</summary>
    public long Timed;
    /// <summary>Over members with an expiry.</summary>
    public ulong Times;
}
