namespace Garnet.Types.SortedSets;

/// <summary>How the scores of one member in several sets become one.</summary>
public enum ScoreAggregate : byte
{
    Sum,
    Min,
    Max,
    /// <summary>In how many sets the member is, whatever its scores: the sum of their weights.</summary>
    Count,
}
