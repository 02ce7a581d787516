using Garnet.Types.Collections;

namespace Garnet.Types.Soundness;

/// <summary>What was found in the pages of a sequence.</summary>
public struct SequenceTally
{
    public SequenceKind Kind;
    public long Count;
    /// <summary>Over members and scores of a sorted set.</summary>
    public ulong Scores;
    public Ascent Ascent;
    /// <summary>Of the page looked at last.</summary>
    public double FirstScore;
}
