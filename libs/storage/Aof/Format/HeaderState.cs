namespace Garnet.Aof.Format;

/// <summary>What stands where a batch header could be.</summary>
public enum HeaderState
{
    /// <summary>Nothing like a header.</summary>
    None,
    /// <summary>A header whose checksum holds, of the version this code knows.</summary>
    Whole,
    /// <summary>A header whose checksum holds, of another version.</summary>
    Newer,
    /// <summary>Begins like a header; its checksum does not hold.</summary>
    Damaged,
}
