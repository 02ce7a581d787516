namespace Garnet.Bulk;

/// <summary>What an endpoint has and has done.</summary>
public readonly record struct BulkFigures
{
    public bool IsPoisoned { get; init; }
    public ulong TransfersOpen { get; init; }
    public ulong RegionsOpen { get; init; }
    public ulong PeersOpen { get; init; }
    public ulong TransfersDone { get; init; }
    public ulong TransfersFailed { get; init; }
    public ulong BytesRead { get; init; }
    public ulong BytesWritten { get; init; }
    /// <summary>That went by a window of this side: of a device's memory, or of memory in no region where the provider wants one.</summary>
    public ulong BytesStaged { get; init; }
}
