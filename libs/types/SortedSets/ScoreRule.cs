namespace Garnet.Types.SortedSets;

/// <summary>What becomes of the scores of one member in several keys. They are put together in the order of the keys, as the sum of floating point numbers depends on it.</summary>
/// <param name="Aggregate">How two become one.</param>
/// <param name="Weights">A factor per key; null or empty for none.</param>
public readonly record struct ScoreRule(ScoreAggregate Aggregate, double[]? Weights)
{
    /// <summary>What a score in one of the keys counts.</summary>
    public double Weighted(double score, int key)
    {
        double weighted = WeightedMore(score, key);
        return double.IsNaN(weighted) ? 0 : weighted; // infinity times zero, as Redis has it
    }

    /// <summary>The same in a key that Redis comes to later in an intersection: there infinity times zero is no number, until it is combined.</summary>
    public double WeightedMore(double score, int key)
    {
        if (Aggregate == ScoreAggregate.Count)
            score = 1;
        return Weights is { Length: > 0 } ? score * Weights[key] : score;
    }

    public double Combine(double left, double right)
    {
        if (Aggregate is ScoreAggregate.Min or ScoreAggregate.Max && (double.IsNaN(left) || double.IsNaN(right)))
            return double.IsNaN(left) ? right : left; // what is no number is neither less nor more
        if (Aggregate == ScoreAggregate.Min)
            return Math.Min(left, right);
        if (Aggregate == ScoreAggregate.Max)
            return Math.Max(left, right);
        double sum = left + right;
        return double.IsNaN(sum) ? 0 : sum; // inf and -inf, as Redis has it
    }
}
