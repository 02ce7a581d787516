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

    /// <summary>Its parts, of which one may be in persistent memory; nothing lies between them.</summary>
    IReadOnlyList<MediumPart> Parts => [new MediumPart(0, Bytes, Facts)];

    /// <summary>Where the part ends that has the byte; not behind it if none has it.</summary>
    long EndOf(long offset) => Bytes;

    /// <summary>True if all of these bytes are in one part of it.</summary>
    bool Has(long offset, long bytes) => offset >= 0 && bytes <= EndOf(offset) - offset;

    /// <summary>
    /// Where the bytes lie, if they may be read there, and for as long as this is open; null: they are to be read. Behind them <see cref="MediumPart.SlackBytes"/>
    /// may be read too, whatever they are.
    /// </summary>
    unsafe byte* InPlace(long offset, int bytes) => null;

    /// <summary>
    /// Writes whole blocks and returns when they can be read back; they are durable only after <see cref="Sync"/>. Offset, address and length
    /// are multiples of <see cref="MediumFacts.BlockBytes"/>. Returns 0, or the error number. From any thread.
    /// </summary>
    unsafe int Write(long offset, byte* from, int bytes);

    /// <summary>Makes what was written durable. Returns 0, or the error number.</summary>
    int Sync();

    /// <summary>True if somebody has removed its file, or cut it: what lies there is gone with this process, or in part by now; the rest is read and written as before.</summary>
    bool IsGone => false;

    /// <summary>A reader for one thread, which may have <paramref name="depth"/> reads under way.</summary>
    IMediumReader OpenReader(int depth, ReaderWake wake);
}
