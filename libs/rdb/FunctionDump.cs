using Garnet.Common.Resp;

namespace Garnet.Rdb;

/// <summary>
/// Libraries as bytes, in the form of FUNCTION DUMP: per library a mark and its text as in an RDB file, then the version of the form and
/// a checksum. It is also how they lie in the store.
/// </summary>
public static unsafe class FunctionDump
{
    private const int Version = 10;

    public static byte[] Write(IEnumerable<byte[]> sources)
    {
        RdbWriter to = Laid(sources);
        byte[] bytes = new ReadOnlySpan<byte>(to.Bytes.Head, to.Bytes.Count).ToArray();
        to.Bytes.Free();
        return bytes;
    }

    /// <summary>The same outside of the managed heap; the caller frees it.</summary>
    public static RdbWriter Laid(IEnumerable<byte[]> sources)
    {
        var to = default(RdbWriter);
        foreach (byte[] source in sources)
        {
            to.Byte((byte)RdbMark.Function);
            to.String(source);
        }

        RdbPayload.Close(ref to, Version);
        return to;
    }

    /// <summary>The texts, those that are <paramref name="known"/> as what they are there; null if the bytes are no dump.</summary>
    public static List<byte[]>? Read(ReadOnlySpan<byte> from, IReadOnlyList<byte[]>? known = null)
    {
        if (!RdbPayload.TryOpen(from, out int bytes, valueBytesMin: 0))
            return null;
        fixed (byte* start = from)
        {
            var cursor = new RdbCursor(start, start + bytes);
            var sources = new List<byte[]>();
            bool sound = true;
            while (sound && cursor.Left > 0)
            {
                sound = cursor.TryByte(out byte mark) & cursor.TryString(out Arg text) && mark == (byte)RdbMark.Function;
                sources.Add(Known(known ?? [], text.Span) ?? text.Span.ToArray());
            }

            cursor.Free();
            return sound ? sources : null;
        }
    }

    private static byte[]? Known(IReadOnlyList<byte[]> known, ReadOnlySpan<byte> text)
    {
        foreach (byte[] one in known)
        {
            if (text.SequenceEqual(one))
                return one;
        }

        return null;
    }
}
