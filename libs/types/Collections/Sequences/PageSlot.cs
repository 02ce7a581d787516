namespace Garnet.Types.Collections;

/// <summary>What the directory says of a page, or of a branch.</summary>
public struct PageSlot
{
    /// <summary>For ordered collections, the number that its first element begins with.</summary>
    public double Sort;
    /// <summary>Its chunk.</summary>
    public uint Number;
    public int Count;
}
