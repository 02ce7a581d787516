using System.Runtime.InteropServices;

namespace Garnet.Server.Types.Streams;

/// <summary>
/// What a stream's root begins with; the first fields are those of every collection with chunks (<see cref="Collections.Root"/>).
/// Behind it stands the directory of its pages.
/// </summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
internal struct StreamHeader
{
    internal const int Bytes = 96;

    internal uint Flags;
    /// <summary>No chunk has this number or a higher one.</summary>
    internal uint Limit;
    /// <summary>Entries that are there.</summary>
    internal long Length;
    /// <summary>Pages in use.</summary>
    internal int Pages;
    /// <summary>Slots of the directory before the first one in use.</summary>
    internal int Skipped;
    /// <summary>The greatest id ever.</summary>
    internal StreamId Last;
    /// <summary>The first entry's id, zero without entries.</summary>
    internal StreamId First;
    /// <summary>The greatest id that was deleted.</summary>
    internal StreamId MaxDeleted;
    /// <summary>Entries ever added.</summary>
    internal long Added;
    /// <summary>Groups of consumers.</summary>
    internal int Groups;
    internal int Reserved;
    internal long ReservedToo;
}

/// <summary>A page in the directory.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
internal struct StreamSlot
{
    internal const int Bytes = 20;

    /// <summary>Id of the page's first entry, whether that is still there or not.</summary>
    internal StreamId First;
    /// <summary>Number of its chunk.</summary>
    internal uint Number;
}
