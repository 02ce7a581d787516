using System.Runtime.InteropServices;

namespace Tsavorite;

/// <summary>Descriptor of a run of pages, off heap, one slot per page; only the first page's slot of a run counts.</summary>
[StructLayout(LayoutKind.Sequential, Size = 32)]
internal struct Extent
{
    public int Pages;
    /// <summary>1 taken or freed but not yet returned, 2 freed while it is pinned (store.P1), 0 free.</summary>
    public int Taken;
    /// <summary>Neighbours in the partition's list, or in the list of free runs.</summary>
    public uint Previous, Next;
    public long ExpireAtMs;
    /// <summary>Number of the copy for the tier that is being made of it (store.C1); 0 as soon as what it holds is changed or gone.</summary>
    public uint Copy;
    /// <summary>How many look at what it holds without a lock (store.P1).</summary>
    public int Pins;
}
