using System.Buffers;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using Garnet.Types.Collections;

namespace Garnet.Types.Streams;

/// <summary>
/// Who produced an entry and how it names it (XADD IDMP), of one size each whatever they are: 8 bytes of a digest of the producer, 16 of
/// one of both. So nobody can make two names look alike, and producers that share 8 bytes share no more than their limit.
/// </summary>
[StructLayout(LayoutKind.Sequential, Pack = 1)]
public readonly record struct ProducedId(ulong Producer, StreamId Name)
{
    private const int HashBytes = SHA256.HashSizeInBytes;

    /// <summary>A producer's name for an entry.</summary>
    public static ProducedId Of(ReadOnlySpan<byte> producer, ReadOnlySpan<byte> name)
    {
        Span<byte> hash = stackalloc byte[HashBytes];
        SHA256.HashData(name, hash);
        return Of(producer, hash);
    }

    /// <summary>The name that an entry has by what it says, in whatever order (IDMPAUTO).</summary>
    public static ProducedId Of(ReadOnlySpan<byte> producer, Operands fields)
    {
        int pairs = fields.Count / 2;
        byte[] rented = ArrayPool<byte>.Shared.Rent(pairs * HashBytes);
        Span<PairHash> hashes = MemoryMarshal.Cast<byte, PairHash>(rented.AsSpan(0, pairs * HashBytes));
        Operands.Reader reader = fields.Read();
        for (int i = 0; i < pairs; i++)
            hashes[i] = PairHash.Of(ref reader);
        hashes.Sort();
        Span<byte> hash = stackalloc byte[HashBytes];
        SHA256.HashData(MemoryMarshal.AsBytes(hashes), hash);
        ArrayPool<byte>.Shared.Return(rented);
        return Of(producer, hash);
    }

    private static ProducedId Of(ReadOnlySpan<byte> producer, Span<byte> nameHash)
    {
        Span<byte> both = stackalloc byte[2 * HashBytes], hash = stackalloc byte[HashBytes];
        SHA256.HashData(producer, both);
        nameHash.CopyTo(both[HashBytes..]);
        SHA256.HashData(both, hash);
        return new ProducedId(MemoryMarshal.Read<ulong>(both), MemoryMarshal.Read<StreamId>(hash));
    }

    // The digest of a field and its value, ordered by its bytes.
    [StructLayout(LayoutKind.Sequential, Pack = 1)]
    private readonly record struct PairHash(UInt128 First, UInt128 Second) : IComparable<PairHash>
    {
        public int CompareTo(PairHash other) => First != other.First ? First.CompareTo(other.First) : Second.CompareTo(other.Second);

        public static PairHash Of(ref Operands.Reader reader)
        {
            Span<byte> both = stackalloc byte[2 * HashBytes], hash = stackalloc byte[HashBytes];
            reader.Next();
            SHA256.HashData(reader.Span, both);
            reader.Next();
            SHA256.HashData(reader.Span, both[HashBytes..]);
            SHA256.HashData(both, hash);
            return MemoryMarshal.Read<PairHash>(hash);
        }
    }
}
