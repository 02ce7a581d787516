using System.Buffers;
using System.Buffers.Binary;

namespace Garnet.Server.Scripting.Functions;

/// <summary>
/// Libraries as bytes, in the form of FUNCTION DUMP: per library a mark and its text, then the version of the form and a checksum. The
/// texts of other servers may be compressed; ours are not. It is also how they lie in the store.
/// </summary>
internal static class FunctionDump
{
    private const byte LibraryMark = 245, Compressed = 3;
    private const int FooterBytes = 10, Version = 10, TextBytesMax = 512 << 20;

    private static readonly ulong[] Table = MakeTable();

    internal static byte[] Write(IEnumerable<byte[]> sources)
    {
        var to = new ArrayBufferWriter<byte>();
        foreach (byte[] source in sources)
        {
            to.Write([LibraryMark]);
            WriteLength(to, source.Length);
            to.Write(source);
        }

        Span<byte> footer = stackalloc byte[FooterBytes];
        BinaryPrimitives.WriteUInt16LittleEndian(footer, Version);
        to.Write(footer[..2]);
        BinaryPrimitives.WriteUInt64LittleEndian(footer[2..], Checksum(to.WrittenSpan));
        to.Write(footer[2..]);
        return to.WrittenSpan.ToArray();
    }

    /// <summary>The texts; null if the bytes are no dump.</summary>
    internal static List<byte[]>? Read(ReadOnlySpan<byte> from)
    {
        if (from.Length < FooterBytes)
            return null;
        ReadOnlySpan<byte> body = from[..^FooterBytes], footer = from[^FooterBytes..];
        ulong checksum = BinaryPrimitives.ReadUInt64LittleEndian(footer[2..]);
        if (BinaryPrimitives.ReadUInt16LittleEndian(footer) > Version + 2 || checksum != Checksum(from[..^8]))
            return null;
        var sources = new List<byte[]>();
        while (!body.IsEmpty)
        {
            if (body[0] != LibraryMark)
                return null;
            body = body[1..];
            if (!TryText(ref body, out byte[] source))
                return null;
            sources.Add(source);
        }

        return sources;
    }

    private static void WriteLength(ArrayBufferWriter<byte> to, int length)
    {
        if (length < 64)
        {
            to.Write([(byte)length]);
        }
        else if (length < 1 << 14)
        {
            to.Write([(byte)(0x40 | (length >> 8)), (byte)length]);
        }
        else
        {
            Span<byte> head = stackalloc byte[5];
            head[0] = 0x80;
            BinaryPrimitives.WriteInt32BigEndian(head[1..], length);
            to.Write(head);
        }
    }

    private static bool TryText(ref ReadOnlySpan<byte> from, out byte[] text)
    {
        text = [];
        if (from.IsEmpty)
            return false;
        if (from[0] != (0xC0 | Compressed))
            return TryLength(ref from, out int plain) && TryTake(ref from, plain, out text);
        from = from[1..];
        if (!TryLength(ref from, out int packed) || !TryLength(ref from, out int length) || !TryTake(ref from, packed, out byte[] bytes))
            return false;
        text = new byte[length];
        return TryUnpack(bytes, text);
    }

    private static bool TryTake(ref ReadOnlySpan<byte> from, int length, out byte[] bytes)
    {
        bytes = [];
        if (length > from.Length)
            return false;
        bytes = from[..length].ToArray();
        from = from[length..];
        return true;
    }

    private static bool TryLength(ref ReadOnlySpan<byte> from, out int length)
    {
        length = -1;
        if (from.IsEmpty)
            return false;
        int bytes = (from[0] >> 6) switch { 0 => 1, 1 => 2, 2 when from[0] == 0x80 => 5, _ => 0 };
        if (bytes == 0 || bytes > from.Length)
            return false;
        long value = bytes switch { 1 => from[0], 2 => ((from[0] & 63) << 8) | from[1], _ => BinaryPrimitives.ReadUInt32BigEndian(from[1..]) };
        from = from[bytes..];
        length = (int)Math.Min(value, int.MaxValue);
        return length <= TextBytesMax;
    }

    // LZF: a control byte says how many bytes follow as they are, or how far back how many bytes stood before.
    private static bool TryUnpack(ReadOnlySpan<byte> from, Span<byte> to)
    {
        int at = 0, read = 0;
        while (read < from.Length)
        {
            int control = from[read++];
            if (control < 32)
            {
                if (control + 1 > from.Length - read || control + 1 > to.Length - at)
                    return false;
                from.Slice(read, control + 1).CopyTo(to[at..]);
                read += control + 1;
                at += control + 1;
                continue;
            }

            int length = control >> 5;
            if (length == 7 && read < from.Length)
                length += from[read++];
            if (read >= from.Length)
                return false;
            int back = ((control & 31) << 8) + from[read++] + 1;
            if (back > at || length + 2 > to.Length - at)
                return false;
            for (int i = 0; i < length + 2; i++, at++)
                to[at] = to[at - back];
        }

        return at == to.Length;
    }

    private static ulong Checksum(ReadOnlySpan<byte> bytes)
    {
        ulong sum = 0;
        foreach (byte next in bytes)
            sum = Table[(byte)sum ^ next] ^ (sum >> 8);
        return sum;
    }

    private static ulong[] MakeTable()
    {
        const ulong Reflected = 0x95AC9329AC4BC9B5; // of the polynomial that Jones chose
        ulong[] table = new ulong[256];
        for (int i = 0; i < table.Length; i++)
        {
            ulong sum = (ulong)i;
            for (int bit = 0; bit < 8; bit++)
                sum = (sum & 1) != 0 ? (sum >> 1) ^ Reflected : sum >> 1;
            table[i] = sum;
        }

        return table;
    }
}
