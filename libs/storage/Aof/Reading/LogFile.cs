namespace Garnet.Aof.Reading;

/// <summary>A sublog file by its name.</summary>
internal sealed record LogFile(string Name, int Sublog, ulong FirstBatch);
