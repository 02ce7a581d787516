using System.Buffers.Binary;
using System.Text;
using Tsavorite;

namespace Garnet.Aof.Format;

/// <summary>The block a sublog's file begins with; website/docs/format/aof.md. Little endian.</summary>
public readonly record struct FileHeader
{
    /// <summary>Size on disk; what a write starts at is a multiple of it too.</summary>
    public const int Bytes = 4096;
    private const uint Magic = 0x46_4C_4E_47; // "GNLF"
    private const int CrcOffset = 36;
    private const byte ReceivedFlag = 1, TailFlag = 2;
    private const int RunAt = 40, RunBytes = 36, TailNumberAt = RunAt + RunBytes, TailCrcOffset = TailNumberAt + sizeof(ulong);
    private const int TailEnd = TailCrcOffset + sizeof(uint);

    /// <summary>Which sublog, and of how many.</summary>
    public required byte Sublog { get; init; }
    public required byte Sublogs { get; init; }
    /// <summary>Number of the first batch in the file.</summary>
    public required ulong FirstBatch { get; init; }
    /// <summary>Term of the first batch.</summary>
    public required uint Term { get; init; }
    /// <summary>Partitions of the store that wrote the file.</summary>
    public required uint Lanes { get; init; }
    /// <summary>Seed of the key hash.</summary>
    public required ulong HashSeed { get; init; }
    /// <summary>Checksum of the header of the batch before the first, 0 at the beginning of a chain.</summary>
    public required uint PreviousCrc { get; init; }
    /// <summary>
    /// The batches came from a primary as they are: what their headers call durable was so on its disk, and proves nothing here.
    /// Between them stand proofs of this server's own (<see cref="DurableProof"/>); not in files of version 1.
    /// </summary>
    public bool IsReceived { get; init; }

    /// <summary>The latest layout of values that may be in the file.</summary>
    public byte Layout { get; init; } = ValueLayout.Current;

    /// <summary>
    /// While the file was written its end stood in <c>NAME.tail</c>, in the run of the system that <see cref="Run"/> names. Without that file,
    /// in the same run, what was acknowledged last is missing. Taken away when all is in the file.
    /// </summary>
    public bool HasTail { get; init; }

    /// <summary>The system's run (<c>boot_id</c>), 36 characters; empty without a tail.</summary>
    public string Run { get; init; } = "";

    /// <summary>Which tail it is, for one of another file does not serve; 0 without a tail.</summary>
    public ulong TailNumber { get; init; }

    /// <summary>Checksum of all that stays as it is while the file is written: whose file it is.</summary>
    public uint Identity
    {
        get
        {
            Span<byte> block = stackalloc byte[Bytes];
            (this with { HasTail = false }).Write(block);
            return BinaryPrimitives.ReadUInt32LittleEndian(block[CrcOffset..]);
        }
    }

    /// <summary>An empty header.</summary>
    public FileHeader()
    {
    }

    /// <summary>Writes the whole block.</summary>
    public void Write(Span<byte> to)
    {
        to = to[..Bytes];
        to.Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(to, Magic);
        to[4] = HeaderVersion.Of(Layout, isSecondForm: IsReceived);
        to[5] = Sublog;
        to[6] = Sublogs;
        to[7] = (byte)((IsReceived ? ReceivedFlag : 0) | (HasTail ? TailFlag : 0));
        BinaryPrimitives.WriteUInt64LittleEndian(to[8..], FirstBatch);
        BinaryPrimitives.WriteUInt32LittleEndian(to[16..], Term);
        BinaryPrimitives.WriteUInt32LittleEndian(to[20..], Lanes);
        BinaryPrimitives.WriteUInt64LittleEndian(to[24..], HashSeed);
        BinaryPrimitives.WriteUInt32LittleEndian(to[32..], PreviousCrc);
        BinaryPrimitives.WriteUInt32LittleEndian(to[CrcOffset..], Crc32C.Of(to[..CrcOffset]));
        if (!HasTail)
            return;
        Encoding.ASCII.GetBytes(Run, to.Slice(RunAt, RunBytes));
        BinaryPrimitives.WriteUInt64LittleEndian(to[TailNumberAt..], TailNumber);
        BinaryPrimitives.WriteUInt32LittleEndian(to[TailCrcOffset..], Crc32C.Of(to[RunAt..TailCrcOffset]));
    }

    /// <summary>Reads the block; the states mean what they mean for <see cref="BatchHeader.TryRead"/>.</summary>
    public static HeaderState TryRead(ReadOnlySpan<byte> from, out FileHeader header)
    {
        header = default;
        if (from.Length < CrcOffset + sizeof(uint) || BinaryPrimitives.ReadUInt32LittleEndian(from) != Magic)
            return HeaderState.None;
        if (BinaryPrimitives.ReadUInt32LittleEndian(from[CrcOffset..]) != Crc32C.Of(from[..CrcOffset]))
            return HeaderState.Damaged;
        if (!HeaderVersion.IsKnown(from[4]))
            return HeaderState.Newer;
        if ((from[7] & TailFlag) != 0 && !IsTailSound(from))
            return HeaderState.Damaged;
        header = new FileHeader
        {
            Layout = HeaderVersion.LayoutOf(from[4]),
            Sublog = from[5],
            Sublogs = from[6],
            IsReceived = (from[7] & ReceivedFlag) != 0,
            HasTail = (from[7] & TailFlag) != 0,
            Run = (from[7] & TailFlag) != 0 && from.Length >= RunAt + RunBytes ? Encoding.ASCII.GetString(from.Slice(RunAt, RunBytes)) : "",
            TailNumber = (from[7] & TailFlag) != 0 && from.Length >= TailNumberAt + sizeof(ulong)
                ? BinaryPrimitives.ReadUInt64LittleEndian(from[TailNumberAt..])
                : 0,
            FirstBatch = BinaryPrimitives.ReadUInt64LittleEndian(from[8..]),
            Term = BinaryPrimitives.ReadUInt32LittleEndian(from[16..]),
            Lanes = BinaryPrimitives.ReadUInt32LittleEndian(from[20..]),
            HashSeed = BinaryPrimitives.ReadUInt64LittleEndian(from[24..]),
            PreviousCrc = BinaryPrimitives.ReadUInt32LittleEndian(from[32..]),
        };
        return HeaderState.Whole;
    }

    // Of what stands behind the first checksum, and is there only while the file has a tail. Files of before it was checked have no number.
    private static bool IsTailSound(ReadOnlySpan<byte> from)
    {
        if (from.Length < TailEnd)
            return false;
        uint crc = BinaryPrimitives.ReadUInt32LittleEndian(from[TailCrcOffset..]);
        bool isOld = crc == 0 && BinaryPrimitives.ReadUInt64LittleEndian(from[TailNumberAt..]) == 0;
        return isOld || crc == Crc32C.Of(from[RunAt..TailCrcOffset]);
    }
}
