using System.Buffers.Binary;
using System.Globalization;
using System.Text;

namespace Garnet.Wire.Rdb;

/// <summary>
/// Payloads for RESTORE in the forms that Redis no longer writes but still reads, built from their descriptions; and the CRC, bit by bit,
/// so that a damaged payload can be given a right one.
/// </summary>
internal static class Payloads
{
    /// <summary>Each form by name, with the commands that would make the same value under the key <c>k</c>.</summary>
    public static IEnumerable<(string Name, byte[] Payload, string[][] Same)> All()
    {
        string longText = new('x', 300), run = new('a', 1000);
        string[] few = ["", "a", "12", "-1", "300", "-70000", "5000000000", "0", "12345678", longText];
        yield return ("string", Close([0, .. Text("hello")]), [["SET", "k", "hello"]]);
        yield return ("string int8", Close([0, 0xC0, 0x85]), [["SET", "k", "-123"]]);
        yield return ("string int16", Close([0, 0xC1, 0x39, 0x30]), [["SET", "k", "12345"]]);
        yield return ("string int32", Close([0, 0xC2, 0x15, 0xCD, 0x5B, 0x07]), [["SET", "k", "123456789"]]);
        yield return ("string lzf", Close([0, .. Lzf(1000, [0, (byte)'a', 0xE0, 0xFF, 0, 0xE0, 0xFF, 0, 0xE0, 0xFF, 0, 0xE0, 198, 0])]), [["SET", "k", run]]);
        yield return ("list", Close([1, .. Many(few)]), [["RPUSH", "k", .. few]]);
        yield return ("list ziplist", Close([10, .. Blob(ZipList(few))]), [["RPUSH", "k", .. few]]);
        yield return ("quicklist", Close([14, .. Length(2), .. Blob(ZipList(few)), .. Blob(ZipList(["7", "b"]))]), [["RPUSH", "k", .. few, "7", "b"]]);
        yield return ("quicklist 2", Close([18, .. Length(2), .. Length(2), .. Blob(ListPack(few)), .. Length(1), .. Text("plain")]), [["RPUSH", "k", .. few, "plain"]]);
        yield return ("set", Close([2, .. Many(few)]), [["SADD", "k", .. few]]);
        yield return ("intset 16", Close([11, .. Blob(IntSet(2, -3, 0, 77))]), [["SADD", "k", "-3", "0", "77"]]);
        yield return ("intset 64", Close([11, .. Blob(IntSet(8, -5000000000, 0, 5000000000))]), [["SADD", "k", "-5000000000", "0", "5000000000"]]);
        yield return ("sorted set text", Close([3, .. Length(3), .. Text("a"), 3, .. "1.5"u8, .. Text("b"), 254, .. Text("c"), 255]), [["ZADD", "k", "1.5", "a", "inf", "b", "-inf", "c"]]);
        yield return ("sorted set", Close([5, .. Length(2), .. Text("a"), .. Double(1.5), .. Text("b"), .. Double(-2)]), [["ZADD", "k", "1.5", "a", "-2", "b"]]);
        yield return ("sorted set ziplist", Close([12, .. Blob(ZipList(["a", "1.5", "b", "2"]))]), [["ZADD", "k", "1.5", "a", "2", "b"]]);
        yield return ("sorted set listpack", Close([17, .. Blob(ListPack(["a", "1.5", "b", "2"]))]), [["ZADD", "k", "1.5", "a", "2", "b"]]);
        yield return ("hash", Close([4, .. Length(2), .. Text("f"), .. Text("v"), .. Text("g"), .. Text("7")]), [["HSET", "k", "f", "v", "g", "7"]]);
        yield return ("zipmap", Close([9, .. Blob(ZipMap("f", "v", "g", longText))]), [["HSET", "k", "f", "v", "g", longText]]);
        yield return ("hash ziplist", Close([13, .. Blob(ZipList(["f", "v", "g", "7"]))]), [["HSET", "k", "f", "v", "g", "7"]]);
        yield return ("stream", Close([15, .. Stream(counts: false, active: false)], 9), [["XADD", "k", "5-1", "a", "1", "b", "x"], ["XADD", "k", "6-0", "c", "hello"], .. Pending]);
        yield return ("stream 2", Close([19, .. Stream(counts: true, active: false)], 10), [["XADD", "k", "5-1", "a", "1", "b", "x"], ["XADD", "k", "5-2", "a", "2", "b", "y"], ["XADD", "k", "6-0", "c", "hello"], ["XDEL", "k", "5-2"], .. Pending]);
        yield return ("stream empty", Close([19, 0, 0, 5, 3, 0, 0, 5, 3, 1, 0], 10), [["XADD", "k", "5-3", "a", "1"], ["XDEL", "k", "5-3"]]);
        yield return ("hash listpack", Close([16, .. Blob(ListPack(["f", "v", "g", "7"]))]), [["HSET", "k", "f", "v", "g", "7"]]);
    }

    /// <summary>Forms that are newer than the reference.</summary>
    public static IEnumerable<(string Name, byte[] Payload, string[][] Same)> Newer()
    {
        long never = 4_000_000_000_000;
        yield return ("set listpack", Close([20, .. Blob(ListPack(["a", "7", "b"]))], 11), [["SADD", "k", "a", "7", "b"]]);
        yield return ("stream 3", Close([21, .. Stream(counts: true, active: true)], 11), [["XADD", "k", "5-1", "a", "1", "b", "x"], ["XADD", "k", "5-2", "a", "2", "b", "y"], ["XADD", "k", "6-0", "c", "hello"], ["XDEL", "k", "5-2"], .. Pending]);
        yield return ("hash times", Close([24, .. Int64(never), .. Length(2), .. Length(1), .. Text("f"), .. Text("v"), .. Length(0), .. Text("g"), .. Text("w")], 12), [["HSET", "k", "f", "v", "g", "w"], ["HPEXPIREAT", "k", $"{never}", "FIELDS", "1", "f"]]);
        yield return ("hash times listpack", Close([25, .. Int64(never), .. Blob(ListPack(["f", "v", $"{never}", "g", "w", "0"]))], 12), [["HSET", "k", "f", "v", "g", "w"], ["HPEXPIREAT", "k", $"{never}", "FIELDS", "1", "f"]]);
    }

    /// <summary>Version and checksum behind type and value.</summary>
    public static byte[] Close(ReadOnlySpan<byte> value, int version = 9)
    {
        byte[] payload = [.. value, (byte)version, (byte)(version >> 8), .. new byte[8]];
        BinaryPrimitives.WriteUInt64LittleEndian(payload.AsSpan(payload.Length - 8), Crc(payload.AsSpan(0, payload.Length - 8)));
        return payload;
    }

    public static ulong Crc(ReadOnlySpan<byte> bytes)
    {
        ulong crc = 0;
        foreach (byte value in bytes)
        {
            crc ^= value;
            for (int bit = 0; bit < 8; bit++) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0x95AC9329AC4BC9B5 : crc >> 1;
        }
        return crc;
    }

    // What makes one entry pending, and a consumer that has none.
    private static readonly string[][] Pending =
    [
        ["XGROUP", "CREATE", "k", "group", "0"], ["XREADGROUP", "GROUP", "group", "one", "COUNT", "1", "STREAMS", "k", ">"],
        ["XCLAIM", "k", "group", "one", "0", "5-1", "TIME", "1000000000000", "RETRYCOUNT", "3", "JUSTID"], ["XGROUP", "CREATECONSUMER", "k", "group", "two"],
    ];

    // Entries 5-1 and 6-0, the latter with a name of its own; 5-2 between them is deleted.
    private static byte[] Stream(bool counts, bool active)
    {
        byte[] node = ListPack(["2", "1", "2", "a", "b", "0", "2", "0", "0", "1", "x", "5", "3", "0", "1", "2", "y", "5", "0", "1", "-1", "1", "c", "hello", "6"]);
        byte[] id = [.. new byte[7], 5, .. new byte[7], 1], time = Int64(1_000_000_000_000);
        return
        [
            1, 16, .. id, .. Blob(node), 2, 6, 0, .. counts ? (byte[])[5, 1, 5, 2, 3] : [],
            1, .. Text("group"), 5, 1, .. counts ? (byte[])[0x81, .. Int64(-1)] : [], 1, .. id, .. time, 3,
            2, .. Text("one"), .. time, .. active ? time : [], 1, .. id, .. Text("two"), .. time, .. active ? Int64(-1) : [], 0,
        ];
    }

    private static byte[] Length(int length) => length < 64 ? [(byte)length] : length < 16384 ? [(byte)(0x40 | (length >> 8)), (byte)length] : throw new ArgumentOutOfRangeException(nameof(length));

    private static byte[] Text(string text) => [.. Length(text.Length), .. Encoding.Latin1.GetBytes(text)];

    private static byte[] Blob(byte[] bytes) => [.. Length(bytes.Length), .. bytes];

    private static byte[] Many(string[] texts) => [.. Length(texts.Length), .. texts.SelectMany(Text)];

    private static byte[] Lzf(int bytes, byte[] packed) => [0xC3, .. Length(packed.Length), .. Length(bytes), .. packed];

    private static byte[] Int64(long value) => BitConverter.GetBytes(value);

    private static byte[] Double(double value) => BitConverter.GetBytes(value);

    private static byte[] IntSet(int size, params long[] members) =>
        [.. BitConverter.GetBytes(size), .. BitConverter.GetBytes(members.Length), .. members.SelectMany(member => BitConverter.GetBytes(member)[..size])];

    private static byte[] ZipMap(params string[] texts)
    {
        List<byte> bytes = [(byte)(texts.Length / 2)];
        for (int i = 0; i < texts.Length; i++)
        {
            bytes.AddRange(texts[i].Length < 254 ? [(byte)texts[i].Length] : [254, .. BitConverter.GetBytes(texts[i].Length)]);
            if (i % 2 != 0) bytes.Add(0);
            bytes.AddRange(Encoding.Latin1.GetBytes(texts[i]));
        }
        return [.. bytes, 0xFF];
    }

    private static byte[] ZipList(string[] texts)
    {
        List<byte> entries = [];
        int before = 0, last = 10;
        foreach (string text in texts)
        {
            byte[] entry = [.. before < 254 ? [(byte)before] : (byte[])[254, .. BitConverter.GetBytes(before)], .. ZipEntry(text)];
            last = 10 + entries.Count;
            before = entry.Length;
            entries.AddRange(entry);
        }
        return [.. BitConverter.GetBytes(entries.Count + 11), .. BitConverter.GetBytes(last), .. BitConverter.GetBytes((ushort)texts.Length), .. entries, 0xFF];
    }

    private static byte[] ZipEntry(string text)
    {
        if (long.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long value))
        {
            return value is >= 0 and <= 12 ? [(byte)(0xF1 + value)]
                : value == (sbyte)value ? [0xFE, (byte)value]
                : value == (short)value ? [0xC0, .. BitConverter.GetBytes((short)value)]
                : value is >= -(1 << 23) and < 1 << 23 ? [0xF0, .. BitConverter.GetBytes((int)value)[..3]]
                : value == (int)value ? [0xD0, .. BitConverter.GetBytes((int)value)]
                : [0xE0, .. BitConverter.GetBytes(value)];
        }
        byte[] bytes = Encoding.Latin1.GetBytes(text);
        return bytes.Length < 64 ? [(byte)bytes.Length, .. bytes] : [(byte)(0x40 | (bytes.Length >> 8)), (byte)bytes.Length, .. bytes];
    }

    private static byte[] ListPack(string[] texts)
    {
        List<byte> entries = [];
        foreach (string text in texts)
        {
            byte[] entry = PackEntry(text);
            entries.AddRange(entry);
            entries.AddRange(entry.Length < 128 ? [(byte)entry.Length] : [(byte)(entry.Length >> 7), (byte)(0x80 | (entry.Length & 0x7F))]);
        }
        return [.. BitConverter.GetBytes(entries.Count + 7), .. BitConverter.GetBytes((ushort)texts.Length), .. entries, 0xFF];
    }

    private static byte[] PackEntry(string text)
    {
        if (long.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long value))
        {
            return value is >= 0 and < 128 ? [(byte)value]
                : value is >= -4096 and < 4096 ? [(byte)(0xC0 | ((value >> 8) & 0x1F)), (byte)value]
                : value == (short)value ? [0xF1, .. BitConverter.GetBytes((short)value)]
                : value is >= -(1 << 23) and < 1 << 23 ? [0xF2, .. BitConverter.GetBytes((int)value)[..3]]
                : value == (int)value ? [0xF3, .. BitConverter.GetBytes((int)value)]
                : [0xF4, .. BitConverter.GetBytes(value)];
        }
        byte[] bytes = Encoding.Latin1.GetBytes(text);
        return bytes.Length < 64 ? [(byte)(0x80 | bytes.Length), .. bytes] : [(byte)(0xE0 | (bytes.Length >> 8)), (byte)bytes.Length, .. bytes];
    }
}
