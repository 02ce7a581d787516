using System.Runtime.InteropServices;

namespace Garnet.Types.Streams;

/// <summary>An entry of a stream, and whose it is: a group's, a consumer's, a producer's. Ordered so.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
public readonly record struct PendingKey(ulong Owner, StreamId Id) : IComparable<PendingKey>
{
    public const int Bytes = 24;

    public int CompareTo(PendingKey other) => Owner != other.Owner ? Owner.CompareTo(other.Owner) : Id.CompareTo(other.Id);

    public static bool operator <(PendingKey left, PendingKey right) => left.CompareTo(right) < 0;

    public static bool operator >(PendingKey left, PendingKey right) => left.CompareTo(right) > 0;

    public static bool operator <=(PendingKey left, PendingKey right) => left.CompareTo(right) <= 0;

    public static bool operator >=(PendingKey left, PendingKey right) => left.CompareTo(right) >= 0;
}
