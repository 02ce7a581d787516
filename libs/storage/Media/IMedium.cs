namespace Garnet.Media;

/// <summary>
/// What a tier lies on: a range of bytes that is written in whole blocks and read at any block. What it can do is said by
/// <see cref="Facts"/>, not by what it is. Failures of the medium are values (error numbers of errno(3)), since they are expected: a disk
/// fills up, a sector goes bad.
/// </summary>
public interface IMedium : IDisposable
{
    /// <summary>What it can do.</summary>
    MediumFacts Facts { get; }

    /// <summary>Bytes it has.</summary>
    long Bytes { get; }

    /// <summary>
    /// Writes whole blocks and returns when they can be read back; they are durable only after <see cref="Sync"/>. Offset, address and length
    /// are multiples of <see cref="MediumFacts.BlockBytes"/>. Returns 0, or the error number. From any thread.
    /// </summary>
    unsafe int Write(long offset, byte* from, int bytes);

    /// <summary>Makes what was written durable. Returns 0, or the error number.</summary>
    int Sync();

    /// <summary>A reader for one thread, which may have <paramref name="depth"/> reads under way.</summary>
    IMediumReader OpenReader(int depth, ReaderWake wake);
}
