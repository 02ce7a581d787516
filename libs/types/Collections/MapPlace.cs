namespace Garnet.Types.Collections;

/// <summary>A place in an <see cref="OrderedMap{TKey}"/>; true until that changes.</summary>
public struct MapPlace
{
    public int Page;
    public int Index;
}
