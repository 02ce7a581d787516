using Tsavorite;

namespace Garnet.Types.Collections;

/// <summary>Is shown all keys and values of a map, in order.</summary>
public unsafe interface IMapVisitor<TKey> where TKey : unmanaged
{
    /// <summary>False if the map cannot be what it must be.</summary>
    bool Visit(ref RecordEdit edit, in TKey key, byte* value);
}
