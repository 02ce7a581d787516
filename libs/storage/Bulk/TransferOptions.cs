namespace Garnet.Bulk;

/// <summary>What a transfer may have beside its bytes: a time of its own, and the region of the endpoint that its memory lies in, which providers with registered memory want to know.</summary>
public readonly record struct TransferOptions(TimeSpan Timeout = default, BulkRegion? Own = null);
