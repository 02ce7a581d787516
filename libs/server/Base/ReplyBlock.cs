using System.Runtime.InteropServices;
using Garnet.Common.Bytes;

namespace Garnet.Server.Base;

/// <summary>
/// A block of memory that replies are written to, which the system extends without a copy where it can. It may have none: whoever writes may be in the
/// middle of a change, which has to come to its end, so a few bytes more than were asked for are kept at the end of each block for what is
/// still said then (net.R9).
/// </summary>
internal static unsafe class ReplyBlock
{
    /// <summary>Bytes behind the room of a block that there are when there are no others.</summary>
    internal const int ReserveBytes = 4096;

    /// <summary>Readable and writable bytes behind these.</summary>
    private const int SlackBytes = 128;

    /// <summary>Bytes of a block behind its room.</summary>
    internal const int BehindBytes = ReserveBytes + SlackBytes;

    /// <summary>For tests: blocks of so many bytes, and larger ones, are not to be had.</summary>
    internal static long FailsFrom { get; set; } = long.MaxValue;

    /// <summary>
    /// The block with room for so many bytes, or more, as it then says, wherever it is then; null if there is no memory, and the block is as it was. A new one
    /// is written to from its start.
    /// </summary>
    internal static byte* TryGrow(byte* block, ref long bytes)
    {
        if (bytes >= FailsFrom)
            return null;
        if (block == null && LargeBlocks.TryTake(bytes + BehindBytes, out long has) is var kept && kept != null)
        {
            bytes = has - BehindBytes;
            return kept;
        }

        try
        {
            return (byte*)NativeMemory.Realloc(block, (nuint)(bytes + BehindBytes));
        }
        catch (OutOfMemoryException)
        {
            return null;
        }
    }

    /// <summary>Gives back a block that had room for so many bytes.</summary>
    internal static void Free(byte* block, long bytes) => LargeBlocks.Free(block, bytes + BehindBytes);
}
