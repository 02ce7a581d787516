namespace Garnet.Media;

/// <summary>A read that waits for a thread.</summary>
internal readonly record struct PooledRead(PooledReader Reader, ulong Token, long Offset, nint To, int Bytes);
