namespace Garnet.Aof;

/// <summary>What a check of a data directory found.</summary>
public sealed record CheckReport
{
    /// <summary>Everything there is to say, file by file.</summary>
    public required IReadOnlyList<CheckFinding> Findings { get; init; }
    /// <summary>The last batch a recovery would come to; 0 if there is none.</summary>
    public required ulong LastBatch { get; init; }
    /// <summary>Batches read and found whole.</summary>
    public required long Batches { get; init; }
    /// <summary>What a start does not need and an operator may want to know all the same; empty if there is nothing.</summary>
    public string Remark { get; init; } = "";
    /// <summary>So many batches, in words.</summary>
    public static string InWords(long batches) => batches == 1 ? "1 batch" : $"{batches} batches";
    /// <summary>True if nothing is damaged. An interrupted write at the end is no damage.</summary>
    public bool IsSound => !Findings.Any(static finding => finding.IsDamage);
}
