namespace Garnet.Client;

/// <summary>What a value has become: its version, which is its digest, and the CRC-32C of the bytes that went there.</summary>
public readonly record struct BulkStored(string Version, uint Crc);
