namespace Garnet.Server.Bulk;

/// <summary>What a session has of the budget; the budget's own.</summary>
internal sealed class BulkShare
{
    internal int Operations { get; set; }

    internal long Bytes { get; set; }

    /// <summary>True if it does not count among what all share.</summary>
    internal bool IsApart { get; set; }
}
