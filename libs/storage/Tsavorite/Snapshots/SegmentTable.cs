using System.Buffers.Binary;
using Garnet.Media;

namespace Tsavorite;

/// <summary>
/// A block of a snapshot's table of segments: a head of 64 bytes (the tier's id; seed, partitions and buckets of the store, which say what the bits above
/// a tag are; bytes of a segment; the tier's secret), and rows. Every block has the same head.
/// </summary>
internal static unsafe class SegmentTable
{
    public const int HeadBytes = 64, BytesMax = SnapshotWalk.BlockBytes;
    public const int RowsMax = (BytesMax - HeadBytes) / SegmentRow.Bytes;
    private const int SeedAt = 16, PartitionsAt = 24, BucketsAt = 28, SegmentBytesAt = 32, UsedBytes = 36;
    private const int SecretAt = 40, SecretEnd = SecretAt + TierSecret.Bytes;

    public static void WriteHead(Span<byte> to, StoreCore core, ColdTier tier)
    {
        to[..HeadBytes].Clear();
        tier.Id.Write(to);
        BinaryPrimitives.WriteUInt64LittleEndian(to[SeedAt..], core.HashSeed);
        BinaryPrimitives.WriteInt32LittleEndian(to[PartitionsAt..], core.Shape->PartitionCount);
        BinaryPrimitives.WriteInt32LittleEndian(to[BucketsAt..], core.Shape->BucketsPerSegment);
        BinaryPrimitives.WriteInt32LittleEndian(to[SegmentBytesAt..], tier.Segments.SegmentBytes);
        tier.Segments.Secret.Write(to[SecretAt..]);
    }

    /// <summary>Reads a block's rows; false if it says what cannot be, or its head is another than <paramref name="head"/>, which is empty at first.</summary>
    public static bool TryRead(ReadOnlySpan<byte> block, ref byte[] head, Dictionary<uint, SegmentRow> rows)
    {
        if (block.Length < HeadBytes || (block.Length - HeadBytes) % SegmentRow.Bytes != 0 || block.Length > BytesMax)
            return false;
        if (head.Length == 0)
            head = block[..HeadBytes].ToArray();
        int segmentBytes = SegmentBytesOf(head);
        bool isHead = block[..HeadBytes].SequenceEqual(head)
            && !block[UsedBytes..SecretAt].ContainsAnyExcept((byte)0) && !block[SecretEnd..HeadBytes].ContainsAnyExcept((byte)0)
            && System.Numerics.BitOperations.IsPow2(segmentBytes)
            && segmentBytes is >= ColdSegments.SegmentBytesMin and <= ColdSegments.SegmentBytesMax;
        if (!isHead)
            return false;
        for (ReadOnlySpan<byte> rest = block[HeadBytes..]; rest.Length > 0; rest = rest[SegmentRow.Bytes..])
        {
            SegmentRow row = System.Runtime.InteropServices.MemoryMarshal.Read<SegmentRow>(rest);
            if (!row.IsPossible(segmentBytes) || !rows.TryAdd(row.Number, row))
                return false;
        }
        return true;
    }

    public static MediumId IdOf(ReadOnlySpan<byte> head) => MediumId.Read(head);

    /// <summary>What the records that are named were written under.</summary>
    public static TierSecret SecretOf(ReadOnlySpan<byte> head) => TierSecret.Read(head[SecretAt..]);

    /// <summary>True if there is one.</summary>
    public static bool HasSecret(ReadOnlySpan<byte> head) => !SecretOf(head).IsNone;

    /// <summary>The tier goes on with what is named: what is written from now on is under the same secret.</summary>
    public static void GoOn(ReadOnlySpan<byte> head, ColdTier tier) => tier.Segments.Secret = SecretOf(head);

    public static int SegmentBytesOf(ReadOnlySpan<byte> head) => BinaryPrimitives.ReadInt32LittleEndian(head[SegmentBytesAt..]);

    /// <summary>How many bits of a hash stand above the tag.</summary>
    public static int HashShiftOf(ReadOnlySpan<byte> head)
    {
        int partitions = BinaryPrimitives.ReadInt32LittleEndian(head[PartitionsAt..]);
        int buckets = BinaryPrimitives.ReadInt32LittleEndian(head[BucketsAt..]);
        return System.Numerics.BitOperations.Log2((uint)partitions) + System.Numerics.BitOperations.Log2((uint)buckets);
    }

    /// <summary>True if the bits of a hash are those of the store's keys.</summary>
    public static bool HasHashesOf(ReadOnlySpan<byte> head, StoreCore core) =>
        BinaryPrimitives.ReadUInt64LittleEndian(head[SeedAt..]) == core.HashSeed && HashShiftOf(head) is >= 0 and <= 64 - IndexWord.TagBits;

    /// <summary>True if the bits above a tag are the store's, and its keys' hashes too.</summary>
    public static bool IsOf(ReadOnlySpan<byte> head, StoreCore core) =>
        BinaryPrimitives.ReadUInt64LittleEndian(head[SeedAt..]) == core.HashSeed
        && BinaryPrimitives.ReadInt32LittleEndian(head[PartitionsAt..]) == core.Shape->PartitionCount
        && BinaryPrimitives.ReadInt32LittleEndian(head[BucketsAt..]) == core.Shape->BucketsPerSegment;
}
