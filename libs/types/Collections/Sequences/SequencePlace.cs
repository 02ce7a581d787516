namespace Garnet.Types.Collections;

/// <summary>A place in a sequence: before an element, or behind the last one of a page.</summary>
public struct SequencePlace
{
    public PageSpot Page;
    /// <summary>Elements of the page before the place.</summary>
    public int Index;
    /// <summary>Byte of the page.</summary>
    public int Offset;
}
