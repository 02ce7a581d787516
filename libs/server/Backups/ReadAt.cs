namespace Garnet.Server.Backups;

/// <summary>Reads up to the span's length at an offset of a file; fewer bytes at its end only.</summary>
internal delegate int ReadAt(long offset, Span<byte> to);
