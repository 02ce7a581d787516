namespace Garnet.Server.Types.Collections;

/// <summary>A place in a sequence: before an element, or behind the last one of a page.</summary>
internal struct SequencePlace
{
    internal PageSpot Page;
    /// <summary>Elements of the page before the place.</summary>
    internal int Index;
    /// <summary>Byte of the page.</summary>
    internal int Offset;
}
