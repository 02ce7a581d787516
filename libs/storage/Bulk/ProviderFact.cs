namespace Garnet.Bulk;

/// <summary>A provider that the native library knows, and why it cannot be used here if it cannot.</summary>
public readonly record struct ProviderFact(string Name, bool IsAvailable, string Reason);
