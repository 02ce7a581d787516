namespace Garnet.Types.Collections;

/// <summary>What becomes of the number of a collection's chunks by an operation.</summary>
internal enum ResizeKind
{
    Stays,
    Grows,
    Shrinks,
}
