namespace Tsavorite;

/// <summary>
/// What a step that was put off waits for (<see cref="SessionTier.TakeWanted"/>). What has come of it is kept until all has, and for the step that is done again then:
/// its owner asks (<see cref="SessionTier.Awaits"/>) until it is over, or gives it up (<see cref="SessionTier.GiveUp"/>).
/// </summary>
public sealed class ColdWait
{
    internal ColdWait(ColdRead[] reads) => Reads = reads;

    internal ColdRead[] Reads { get; }

    /// <summary>Nobody waits for it any more.</summary>
    internal bool IsOver { get; set; }

    /// <summary>Whose step it is, and which of his (<see cref="HeldPatience.Turn"/>); 0: nobody's that is told from others.</summary>
    internal long Turn { get; init; }

    /// <summary>Its place among those that wait; null once it is forgotten.</summary>
    internal LinkedListNode<ColdWait>? Place { get; set; }

    /// <summary>Of the reads that are what the step itself names, which are the first ones, and which it needs together: whether it needs more than the head.</summary>
    internal bool[] Named { get; init; } = [];

    /// <summary>How many of them have come, and what those that the step names take: values, and heads.</summary>
    internal int Come { get; set; }

    /// <inheritdoc cref="Come"/>
    internal long Bytes { get; set; }

    /// <inheritdoc cref="Come"/>
    internal long HeadBytes { get; set; }

    /// <inheritdoc cref="Come"/>
    internal long LongBytes { get; set; }

    /// <summary>One of them that has come and was given up since, though others had not; null: none is known.</summary>
    internal ColdRead? Gone { get; set; }

    /// <summary>The step names more than is kept for one: it would never have all of it together.</summary>
    public bool IsTooMuch { get; internal set; }
}
