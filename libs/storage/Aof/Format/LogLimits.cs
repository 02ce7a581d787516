namespace Garnet.Aof.Format;

/// <summary>
/// How long what is in the log can be, one number for who writes and who reads: files, links, recovery. A step's changes are one batch, so
/// what a batch can hold bounds what one step may change.
/// </summary>
public static class LogLimits
{
    /// <summary>Most bytes of lane table and entries in one part of a batch, 2^30: readers hold a part in memory and believe no header that says more.</summary>
    public const int PartBodyBytesMax = 1 << 30;

    /// <summary>Most bytes that steps may announce for one batch. What lies above is for the lane table and for what is not announced.</summary>
    public const long BatchBytesMax = PartBodyBytesMax - LaneTableBytesMax - LateBytesMax - ForcedBytesMax;

    /// <summary>Bytes beyond that for commands that need more than they have announced: their estimates are bounds, so that it should be none.</summary>
    public const long ForcedBytesMax = 64 << 20;

    /// <summary>Most bytes of the log that one step may take whatever the setting says.</summary>
    public const long StepBytesMaxMost = BatchBytesMax;

    /// <summary>Least that the setting may say: a value of proto-max-bulk-len at its least, and its key.</summary>
    public const long StepBytesMaxLeast = 2 << 20;

    /// <summary>The setting's default: the longest value (512 MiB) with its key fits.</summary>
    public const long StepBytesMaxDefault = 513L << 20;

    /// <summary>Bytes in an open batch from which it is closed however many wait for the disk.</summary>
    public const long CloseBytes = LateBytesMax / 2;

    private const int LaneTableBytesMax = (ushort.MaxValue + 1) * LaneRow.Bytes;
    // Changes too small to be announced that come between the size at which a batch is to be closed and its closing: of a thread each, not many.
    private const int LateBytesMax = 128 << 20;
}
