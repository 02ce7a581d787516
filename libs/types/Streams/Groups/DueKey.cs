using System.Runtime.InteropServices;

namespace Garnet.Types.Streams;

/// <summary>An entry that is pending, in the order in which others may have it: those that were released, then by time of delivery.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
public readonly record struct DueKey(int Group, long When, StreamId Id) : IComparable<DueKey>
{
    public int CompareTo(DueKey other) =>
        Group != other.Group ? Group.CompareTo(other.Group) : When != other.When ? When.CompareTo(other.When) : Id.CompareTo(other.Id);

    public static bool operator <(DueKey left, DueKey right) => left.CompareTo(right) < 0;

    public static bool operator >(DueKey left, DueKey right) => left.CompareTo(right) > 0;

    public static bool operator <=(DueKey left, DueKey right) => left.CompareTo(right) <= 0;

    public static bool operator >=(DueKey left, DueKey right) => left.CompareTo(right) >= 0;
}
