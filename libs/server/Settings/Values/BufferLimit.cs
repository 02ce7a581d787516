namespace Garnet.Server;

/// <summary>Limits on unsent replies of one client; 0 means none.</summary>
public readonly record struct BufferLimit(long HardBytes, long SoftBytes, int SoftSeconds);
