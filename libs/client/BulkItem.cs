namespace Garnet.Client;

/// <summary>A key, and the place in a buffer from which its value is put, or into which it is got.</summary>
public readonly record struct BulkItem(string Key, BulkBuffer Buffer, int Offset, int Length);
