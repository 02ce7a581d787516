using System.Buffers.Binary;
using Garnet.Aof.Format;
using Tsavorite;

namespace Garnet.Aof.Snapshots;

/// <summary>The first 4,096 bytes of a snapshot file; website/docs/format/snapshot.md. Little endian.</summary>
internal static class SnapshotFileHeader
{
    public const int Bytes = 4096;

    private const uint Magic = 0x46_53_4E_47; // "GNSF"
    /// <summary>
    /// Added to the version of a file that may name segments of a tier: once; twice where some of these may continue others; three times where the table also says under which secret
    /// their records were written. For whoever does not know what that is, it is of a later version.
    /// </summary>
    private const byte NamingVersions = 64, NamingNow = 3 * NamingVersions;
    private const int CrcOffset = Bytes - sizeof(uint), SaltOffset = 40, TagOffset = SaltOffset + SnapshotSeal.SaltBytes;
    private const int SealedBytes = TagOffset + SnapshotSeal.TagBytes;

    public static void Write(Span<byte> to, in SnapshotFileFacts facts, SnapshotSeal? seal)
    {
        to = to[..Bytes];
        to.Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(to, Magic);
        to[4] = (byte)(HeaderVersion.Of(ValueLayout.Current, isSecondForm: seal is not null) + (facts.NamesSegments ? NamingNow : 0));
        BinaryPrimitives.WriteUInt32LittleEndian(to[8..], facts.Term);
        BinaryPrimitives.WriteUInt32LittleEndian(to[12..], facts.Partitions);
        BinaryPrimitives.WriteUInt64LittleEndian(to[16..], facts.Batch);
        BinaryPrimitives.WriteUInt64LittleEndian(to[24..], facts.HashSeed);
        BinaryPrimitives.WriteInt64LittleEndian(to[32..], facts.StartUnixUs);
        seal?.Salt.CopyTo(to[SaltOffset..]);
        seal?.Tag(SnapshotSeal.HeaderPlace, 0, to[..TagOffset], to[TagOffset..SealedBytes]);
        BinaryPrimitives.WriteUInt32LittleEndian(to[CrcOffset..], Crc32C.Of(to[..CrcOffset]));
    }

    /// <summary>Reads the header or refuses the file.</summary>
    public static SnapshotFileFacts Read(ReadOnlySpan<byte> from, string name)
    {
        if (from.Length < Bytes || BinaryPrimitives.ReadUInt32LittleEndian(from) != Magic)
            throw new SnapshotFileException(name, 0, "this is no snapshot");
        if (BinaryPrimitives.ReadUInt32LittleEndian(from[CrcOffset..]) != Crc32C.Of(from[..CrcOffset]))
            throw new SnapshotFileException(name, 0, "the header's checksum does not hold");
        bool names = from[4] >= NamingVersions;
        byte version = (byte)(from[4] % NamingVersions);
        if (!HeaderVersion.IsKnown(version))
        {
            throw new SnapshotFileException(name, 4,
                $"version {from[4]} is of a newer version of the server; here {HeaderVersion.Latest} is the last known", isNewer: true);
        }

        bool isSealed = HeaderVersion.IsSecondForm(version);
        if (from[5..8].ContainsAnyExcept((byte)0) || from[(isSealed ? SealedBytes : SaltOffset)..CrcOffset].ContainsAnyExcept((byte)0))
            throw new SnapshotFileException(name, 5, "bytes that must be zero are not");
        return new SnapshotFileFacts
        {
            Name = name,
            IsSealed = isSealed,
            NamesSegments = names,
            Term = BinaryPrimitives.ReadUInt32LittleEndian(from[8..]),
            Partitions = BinaryPrimitives.ReadUInt32LittleEndian(from[12..]),
            Batch = BinaryPrimitives.ReadUInt64LittleEndian(from[16..]),
            HashSeed = BinaryPrimitives.ReadUInt64LittleEndian(from[24..]),
            StartUnixUs = BinaryPrimitives.ReadInt64LittleEndian(from[32..]),
        };
    }

    /// <summary>The salt in the header of a sealed file, if the header is as whoever has the key wrote it; else null.</summary>
    public static byte[]? SaltOf(ReadOnlySpan<byte> header, DirectoryKey key)
    {
        ReadOnlySpan<byte> salt = header[SaltOffset..TagOffset];
        using SnapshotSeal seal = key.Seal(salt);
        return seal.Holds(SnapshotSeal.HeaderPlace, 0, header[..TagOffset], header[TagOffset..SealedBytes]) ? salt.ToArray() : null;
    }
}
