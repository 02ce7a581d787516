namespace Garnet.Types.SortedSets;

/// <summary>By what elements are compared with a <see cref="SortBound"/>.</summary>
public enum BoundKind : byte
{
    /// <summary>Score and member: a place of its own for each element.</summary>
    Element,
    Score,
    /// <summary>Member alone; the scores are taken to be all the same.</summary>
    Member,
    /// <summary>Nothing lies below.</summary>
    Nothing,
    /// <summary>Everything lies below.</summary>
    Everything,
}
