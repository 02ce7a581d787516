namespace Garnet.Client;

/// <summary>What has come: how many bytes, of how many that the value has, its version, and the CRC-32C of those that came.</summary>
public readonly record struct BulkFetched(int Length, long Total, string Version, uint Crc);
