using System.Buffers.Binary;
using System.Text;
using Garnet.Aof.Format;
using Garnet.Common;
using Garnet.Media;

namespace Garnet.Aof.Pm;

/// <summary>
/// How a range is divided into rings: the page it begins with (website/docs/format/ring.md). One line in two copies written in turn, and
/// for people the directory that the rings served last. Little endian.
/// </summary>
internal readonly record struct PmLayout(ulong Generation, int Rings, long RingBytes)
{
    /// <summary>The page's size: the first ring begins behind it.</summary>
    public const int Bytes = PmRange.PageBytes;

    private const ulong Magic = 0x31_47_4E_52_4D_50_4E_47; // "GNPMRNG1"
    private const int Line = IPmRange.LineBytes, CopyAt = 1024, OwnerAt = 2048, OwnerBytesMax = 1024;
    private const int CrcAt = 8, VersionAt = 12, GenerationAt = 16, RingBytesAt = 24, RingsAt = 32;
    private const uint Version = 1;

    /// <summary>The layout of a range; one without rings if nothing has been written yet.</summary>
    /// <exception cref="GarnetException">Something else stands there, or a newer version's; or it is damaged, and nothing shows what it was.</exception>
    public static PmLayout Read(IPmRange range, string path)
    {
        ReadOnlySpan<byte> a = range.At(0, Line), b = range.At(CopyAt, Line);
        PmLayout? first = TryRead(a, path), second = TryRead(b, path);
        bool isSecond = first is null || (second is not null && second.Value.Generation > first.Value.Generation);
        if ((isSecond ? second : first) is not { } found)
        {
            if (range.At(0, Bytes).ContainsAnyExcept((byte)0) && !IsOurs(a) && !IsOurs(b))
                throw Refused(path, "something else stands in it", "name a file of zeros, which is given to this alone");
            return (PmLine.IsBlank(a) && IsFirst(range, b)) || !range.At(0, Bytes).ContainsAnyExcept((byte)0) ? default
                : throw PmRings.Damaged(path, "what says how it is divided into rings cannot be read");
        }
        if (!found.IsPossible(range.Bytes))
        {
            throw Refused(path, $"its {found.Rings} rings of {found.RingBytes} bytes do not lie inside its {range.Bytes}",
                "put the file back as it was");
        }
        ReadOnlySpan<byte> other = isSecond ? a : b;
        bool isDoubtful = (isSecond ? first : second) is null && !PmLine.IsBlank(other)
            && BinaryPrimitives.ReadUInt64LittleEndian(other[GenerationAt..]) + 1 != found.Generation;
        // log.R11: it was torn while it was written, which is only done while all rings are empty.
        if (isDoubtful && !found.IsEmpty(range))
            throw PmRings.Damaged(path, "the newer of two copies of what says how it is divided into rings cannot be read");
        return found;
    }

    /// <summary>Where a ring begins.</summary>
    public long StartOf(int ring) => Bytes + (ring * RingBytes);

    /// <summary>The layout of so many rings in a range: as large as there is room for.</summary>
    public static PmLayout Of(int rings, long rangeBytes, ulong generation) =>
        new(generation, rings, (rangeBytes - Bytes) / rings / PmRange.PageBytes * PmRange.PageBytes);

    /// <summary>Writes it to the copy that does not count, and the directory for people. Returns 0, or the error number.</summary>
    public int Write(IPmRange range, string directory)
    {
        Span<byte> line = stackalloc byte[Line];
        line.Clear();
        BinaryPrimitives.WriteUInt64LittleEndian(line, Magic);
        long at = Generation % 2 == 0 ? 0 : CopyAt;
        if (!IsOurs(range.At(at, Line)))
            range.Write(at, line); // eight bytes come as a whole: from now on nobody takes the page for another's
        int error = range.Fence();
        WriteLine(line);
        range.Write(at, line);
        byte[] owner = new byte[OwnerBytesMax];
        Encoding.UTF8.GetBytes(directory.AsSpan(0, Math.Min(directory.Length, OwnerBytesMax / 4)), owner);
        range.Write(OwnerAt, owner);
        return error != 0 ? error : range.Fence();
    }

    /// <summary>True if the rings served that directory last.</summary>
    public static bool IsOwnedBy(IPmRange range, string directory) =>
        OwnerIn(range) == directory[..Math.Min(directory.Length, OwnerBytesMax / 4)];

    /// <summary>The directory that the rings served last, as it was written there.</summary>
    public static string OwnerIn(IPmRange range)
    {
        ReadOnlySpan<byte> text = range.At(OwnerAt, OwnerBytesMax);
        int end = text.IndexOf((byte)0);
        string owner = Encoding.UTF8.GetString(end < 0 ? text : text[..end]);
        return owner.Length == 0 || owner.Any(char.IsControl) ? "a directory whose name is not known" : owner;
    }

    internal static GarnetException Refused(string path, string why, string next) =>
        new(ExitKind.Configuration, $"aof-pm-path cannot be used: {path}", why, next);

    private static bool IsOurs(ReadOnlySpan<byte> line) => BinaryPrimitives.ReadUInt64LittleEndian(line) == Magic;

    private static PmLayout? TryRead(ReadOnlySpan<byte> line, string path)
    {
        Span<byte> magic = stackalloc byte[sizeof(ulong)], whole = stackalloc byte[Line];
        BinaryPrimitives.WriteUInt64LittleEndian(magic, Magic);
        if (!PmLine.TryMend(line, magic, whole))
            return null;
        if (BinaryPrimitives.ReadUInt32LittleEndian(whole[VersionAt..]) != Version)
            throw Refused(path, "it is of a newer version of the format", "start that version");
        return new PmLayout(
            BinaryPrimitives.ReadUInt64LittleEndian(whole[GenerationAt..]),
            BinaryPrimitives.ReadInt32LittleEndian(whole[RingsAt..]),
            BinaryPrimitives.ReadInt64LittleEndian(whole[RingBytesAt..]));
    }

    // The power failed while the first layout was written: it has words of one that there could be, and no ring has begun.
    private static bool IsFirst(IPmRange range, ReadOnlySpan<byte> found)
    {
        Span<byte> line = stackalloc byte[Line];
        for (int rings = 1; rings <= AofSettings.SublogsMax; rings++)
        {
            PmLayout layout = Of(rings, range.Bytes, 1);
            layout.WriteLine(line);
            if (layout.IsPossible(range.Bytes) && HasWordsOf(found, line) && layout.IsEmpty(range))
                return true;
        }
        return false;
    }

    private static bool HasWordsOf(ReadOnlySpan<byte> found, ReadOnlySpan<byte> line)
    {
        for (int at = 0; at < Line; at += sizeof(ulong))
        {
            ReadOnlySpan<byte> word = found.Slice(at, sizeof(ulong));
            if (word.ContainsAnyExcept((byte)0) && !word.SequenceEqual(line.Slice(at, sizeof(ulong))))
                return false;
        }
        return true;
    }

    private void WriteLine(Span<byte> line)
    {
        line.Clear();
        BinaryPrimitives.WriteUInt64LittleEndian(line, Magic);
        BinaryPrimitives.WriteUInt32LittleEndian(line[VersionAt..], Version);
        BinaryPrimitives.WriteUInt64LittleEndian(line[GenerationAt..], Generation);
        BinaryPrimitives.WriteInt64LittleEndian(line[RingBytesAt..], RingBytes);
        BinaryPrimitives.WriteInt32LittleEndian(line[RingsAt..], Rings);
        BinaryPrimitives.WriteUInt32LittleEndian(line[CrcAt..], Crc32C.Of(line[VersionAt..]));
    }

    // No ring serves a file, and none may.
    private bool IsEmpty(IPmRange range)
    {
        for (int i = 0; i < Rings; i++)
        {
            if (new PmRing(range, StartOf(i), RingBytes) is { Number: not 0 } or { MayLackHead: true })
                return false;
        }
        return true;
    }

    private bool IsPossible(long rangeBytes) => Rings is > 0 and <= AofSettings.SublogsMax && RingBytes >= PmRing.BytesMin
        && RingBytes % PmRange.PageBytes == 0 && RingBytes <= (rangeBytes - Bytes) / Rings;
}
