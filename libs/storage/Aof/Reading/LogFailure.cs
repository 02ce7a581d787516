namespace Garnet.Aof.Reading;

/// <summary>Where and why a log ends: what should have been a part of batch <paramref name="Batch"/> is not.</summary>
internal sealed record LogFailure(LogFailureKind Kind, int Sublog, string File, long Offset, ulong Batch, string Reason);
