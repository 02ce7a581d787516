namespace Garnet.Rdb;

/// <summary>Unpacks what LZF (Marc Lehmann's liblzf) has packed: runs of literal bytes, and references to what was written before.</summary>
internal static unsafe class Lzf
{
    private const int LiteralsMax = 32, LongReference = 7, DistanceBits = 13;

    /// <summary>More than that no packed byte can stand for: three bytes make 264 at most.</summary>
    internal const long ExpansionMax = 88;

    /// <summary>True if the packed bytes give exactly as many as there is room for.</summary>
    internal static bool TryUnpack(ReadOnlySpan<byte> packed, Span<byte> to)
    {
        int written = 0;
        for (int at = 0; at < packed.Length;)
        {
            int control = packed[at++];
            if (control < LiteralsMax)
            {
                int literals = control + 1;
                if (literals > packed.Length - at || literals > to.Length - written)
                    return false;
                packed.Slice(at, literals).CopyTo(to[written..]);
                at += literals;
                written += literals;
                continue;
            }

            int length = control >> 5;
            if (length == LongReference)
            {
                if (at == packed.Length)
                    return false;
                length += packed[at++];
            }

            if (at == packed.Length)
                return false;
            int from = written - (((control & 0x1F) << (DistanceBits - 5)) | packed[at++]) - 1;
            length += 2;
            if (from < 0 || length > to.Length - written)
                return false;
            for (int i = 0; i < length; i++) // one by one: a reference may reach into what it writes
                to[written + i] = to[from + i];
            written += length;
        }

        return written == to.Length;
    }
}
