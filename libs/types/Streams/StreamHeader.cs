using System.Runtime.InteropServices;

namespace Garnet.Types.Streams;

/// <summary>
/// What a stream's root begins with; the first fields are those of every collection with chunks (<see cref="Collections.Root"/>).
/// Behind it stands the directory of its pages. The last 12 bytes are zero and of no meaning yet: they are in what layout 1 has on disk.
/// </summary>
[StructLayout(LayoutKind.Sequential, Pack = 1, Size = Bytes)]
public struct StreamHeader
{
    public const int Bytes = 96;

    public uint Flags;
    /// <summary>No chunk has this number or a higher one: the store's field (<see cref="Tsavorite.RootLimit"/>), where it has it in every root.</summary>
    public uint Limit;
    /// <summary>Entries that are there.</summary>
    public long Length;
    /// <summary>Pages in use.</summary>
    public int Pages;
    /// <summary>Slots of the directory before the first one in use.</summary>
    public int Skipped;
    /// <summary>The greatest id ever.</summary>
    public StreamId Last;
    /// <summary>The first entry's id, zero without entries.</summary>
    public StreamId First;
    /// <summary>The greatest id that was deleted.</summary>
    public StreamId MaxDeleted;
    /// <summary>Entries ever added.</summary>
    public long Added;
    /// <summary>Groups of consumers.</summary>
    public int Groups;
}
