namespace Garnet.Aof.Pm;

/// <summary>
/// A place between two records of a ring: bytes since the ring began to serve its file, the number of the record that comes next, and where in
/// the file its bytes belong.
/// </summary>
internal readonly record struct PmPlace(long Position, ulong Sequence, long FileOffset)
{
    /// <summary>Far from where sums of positions would overflow: no ring is written for so long.</summary>
    public const long Max = long.MaxValue / 4;
}
