using System.Buffers.Binary;
using System.Text;
using Garnet.Aof;
using Tsavorite;

namespace Garnet.Replication.Frames;

/// <summary>The primary's answer to a replica: what follows on the connection.</summary>
public sealed record PlanFrame
{
    public const int IdBytes = 40, PathMax = 16;
    private const int FixedBytes = 56, LayoutAt = 48, TermBytes = 20;

    /// <summary>True if a snapshot comes first; else batches follow at once.</summary>
    public required bool IsFull { get; init; }
    /// <summary>True if the snapshot is the one that broke off, and goes on behind the blocks that have come.</summary>
    public bool Resumes { get; init; }
    /// <summary>Behind which place batches follow; for a full sync the place of the snapshot.</summary>
    public required LogPosition At { get; init; }
    /// <summary>Term the primary writes in.</summary>
    public required uint Term { get; init; }
    /// <summary>What the primary's lanes are made of, for the replica's file headers.</summary>
    public required int Lanes { get; init; }
    public required ulong HashSeed { get; init; }
    /// <summary>When the snapshot was cut, Unix microseconds.</summary>
    public required long StartedUnixUs { get; init; }
    /// <summary>The last batch that the replica's history and the primary's share; <see cref="ulong.MaxValue"/> = not known.</summary>
    public required ulong Fork { get; init; }
    /// <summary>Name of the history, 40 hexadecimal digits, for people.</summary>
    public required string HistoryId { get; init; }
    /// <summary>Run ids of all servers from the first primary down to the sender.</summary>
    public required IReadOnlyList<string> Path { get; init; }

    /// <summary>The latest layout of values that may come.</summary>
    public byte Layout { get; init; } = ValueLayout.Current;

    /// <summary>What the primary knows of the terms of its history.</summary>
    public IReadOnlyList<TermStart> Terms { get; init; } = [];

    public byte[] Encode()
    {
        byte[] bytes = new byte[FixedBytes + ((1 + Path.Count) * IdBytes) + (At.Crcs.Count * sizeof(uint)) + (Terms.Count * TermBytes)];
        bytes[0] = Resumes ? (byte)3 : IsFull ? (byte)2 : (byte)1;
        bytes[1] = (byte)At.Crcs.Count;
        bytes[2] = (byte)Path.Count;
        bytes[3] = (byte)Terms.Count;
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(4), Term);
        BinaryPrimitives.WriteUInt32LittleEndian(bytes.AsSpan(8), At.Term);
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(12), Lanes);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes.AsSpan(16), At.Batch);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes.AsSpan(24), HashSeed);
        BinaryPrimitives.WriteInt64LittleEndian(bytes.AsSpan(32), StartedUnixUs);
        BinaryPrimitives.WriteUInt64LittleEndian(bytes.AsSpan(40), Fork);
        bytes[LayoutAt] = (byte)(Layout - 1);
        Span<byte> rest = bytes.AsSpan(FixedBytes);
        foreach (string id in (IEnumerable<string>)[HistoryId, .. Path])
        {
            Encoding.ASCII.GetBytes(id, rest);
            rest = rest[IdBytes..];
        }

        foreach (uint crc in At.Crcs)
        {
            BinaryPrimitives.WriteUInt32LittleEndian(rest, crc);
            rest = rest[sizeof(uint)..];
        }

        foreach (TermStart term in Terms)
        {
            BinaryPrimitives.WriteUInt32LittleEndian(rest, term.Term);
            BinaryPrimitives.WriteUInt32LittleEndian(rest[4..], term.Before);
            BinaryPrimitives.WriteUInt64LittleEndian(rest[8..], term.First);
            BinaryPrimitives.WriteUInt32LittleEndian(rest[16..], term.Owner);
            rest = rest[TermBytes..];
        }

        return bytes;
    }

    /// <summary>Null if the bytes are no plan.</summary>
    public static PlanFrame? TryDecode(ReadOnlySpan<byte> from)
    {
        if (from.Length < FixedBytes || from[0] is not (1 or 2 or 3) || from[1] is 0 or > AofSettings.SublogsMax || from[2] > PathMax
            || from[3] > TermStart.KeptMax)
            return null;
        if (from.Length != FixedBytes + ((1 + from[2]) * IdBytes) + (from[1] * sizeof(uint)) + (from[3] * TermBytes))
            return null;
        if (from[(LayoutAt + 1)..FixedBytes].ContainsAnyExcept((byte)0) || from[LayoutAt] == byte.MaxValue)
            return null;
        if (BinaryPrimitives.ReadInt64LittleEndian(from[32..]) < 0)
            return null; // a replica that believed it would greet by it, and no primary understand it
        if (!DirectoryLayout.CanHave(BinaryPrimitives.ReadInt32LittleEndian(from[12..])))
            return null;
        if (Math.Max(BinaryPrimitives.ReadUInt32LittleEndian(from[4..]),
            BinaryPrimitives.ReadUInt32LittleEndian(from[8..])) > TermStart.TermMax)
            return null;
        string[] ids = new string[1 + from[2]];
        for (int i = 0; i < ids.Length; i++)
        {
            ReadOnlySpan<byte> id = from.Slice(FixedBytes + (i * IdBytes), IdBytes);
            if (id.ContainsAnyExcept(HexDigits))
                return null;
            ids[i] = Encoding.ASCII.GetString(id);
        }

        uint[] crcs = new uint[from[1]];
        for (int i = 0; i < crcs.Length; i++)
            crcs[i] = BinaryPrimitives.ReadUInt32LittleEndian(from[(FixedBytes + (ids.Length * IdBytes) + (i * sizeof(uint)))..]);
        TermStart[] terms = new TermStart[from[3]];
        for (int i = 0; i < terms.Length; i++)
        {
            ReadOnlySpan<byte> term = from[^((terms.Length - i) * TermBytes)..];
            terms[i] = new TermStart(BinaryPrimitives.ReadUInt32LittleEndian(term), BinaryPrimitives.ReadUInt64LittleEndian(term[8..]),
                BinaryPrimitives.ReadUInt32LittleEndian(term[4..]))
            {
                Owner = BinaryPrimitives.ReadUInt32LittleEndian(term[16..]),
            };
        }

        return new PlanFrame
        {
            Layout = (byte)(from[LayoutAt] + 1),
            IsFull = from[0] != 1,
            Resumes = from[0] == 3,
            At = new LogPosition(BinaryPrimitives.ReadUInt32LittleEndian(from[8..]),
                BinaryPrimitives.ReadUInt64LittleEndian(from[16..]), crcs),
            Term = BinaryPrimitives.ReadUInt32LittleEndian(from[4..]),
            Lanes = BinaryPrimitives.ReadInt32LittleEndian(from[12..]),
            HashSeed = BinaryPrimitives.ReadUInt64LittleEndian(from[24..]),
            StartedUnixUs = BinaryPrimitives.ReadInt64LittleEndian(from[32..]),
            Fork = BinaryPrimitives.ReadUInt64LittleEndian(from[40..]),
            HistoryId = ids[0],
            Path = ids[1..],
            Terms = terms,
        };
    }

    private static readonly System.Buffers.SearchValues<byte> HexDigits = System.Buffers.SearchValues.Create("0123456789abcdef"u8);
}
