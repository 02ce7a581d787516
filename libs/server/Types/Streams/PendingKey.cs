using System.Runtime.InteropServices;

namespace Garnet.Server.Types.Streams;

/// <summary>An entry of a stream, and whose it is: a group's, a consumer's, a producer's. Ordered so.</summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
internal readonly record struct PendingKey(ulong Owner, StreamId Id) : IComparable<PendingKey>
{
    internal const int Bytes = 24;

    public int CompareTo(PendingKey other) => Owner != other.Owner ? Owner.CompareTo(other.Owner) : Id.CompareTo(other.Id);
}
