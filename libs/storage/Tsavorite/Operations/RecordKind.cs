namespace Tsavorite;

/// <summary>What a record's value bytes are. Persisted: numbers never change meaning.</summary>
public enum RecordKind : byte
{
    /// <summary>No record.</summary>
    None = 0,
    /// <summary>A plain string of bytes.</summary>
    String = 1,
    /// <summary>Root of a hash.</summary>
    Hash = 2,
    /// <summary>Root of a list.</summary>
    List = 3,
    /// <summary>Root of a set.</summary>
    Set = 4,
    /// <summary>Root of a sorted set.</summary>
    SortedSet = 5,
    /// <summary>Root of a stream.</summary>
    Stream = 6,
    /// <summary>A piece of a collection; never seen by SCAN, RANDOMKEY or eviction.</summary>
    Chunk = 14,
    /// <summary>Unused space inside a segment.</summary>
    Padding = 15,
}
