namespace Garnet.Rdb;

/// <summary>The CRC-64 of RDB (Jones's polynomial 0xAD93D23594C935A9, reflected, starting at 0), eight bytes at a time.</summary>
public static unsafe class Crc64
{
    private const ulong Reflected = 0x95AC9329AC4BC9B5;
    private const int Tables = 8;
    private static readonly ulong[] _table = Build();

    /// <summary>Goes on from <paramref name="crc"/>, 0 at the start.</summary>
    public static ulong Append(ulong crc, byte* bytes, long count)
    {
        fixed (ulong* table = _table)
        {
            for (; count >= 8; count -= 8, bytes += 8)
            {
                ulong word = crc ^ *(ulong*)bytes;
                crc = table[7 * 256 + (byte)word] ^ table[6 * 256 + (byte)(word >> 8)] ^ table[5 * 256 + (byte)(word >> 16)]
                    ^ table[4 * 256 + (byte)(word >> 24)] ^ table[3 * 256 + (byte)(word >> 32)] ^ table[2 * 256 + (byte)(word >> 40)]
                    ^ table[256 + (byte)(word >> 48)] ^ table[(byte)(word >> 56)];
            }

            for (; count > 0; count--)
                crc = table[(byte)crc ^ *bytes++] ^ (crc >> 8);
        }

        return crc;
    }

    private static ulong[] Build()
    {
        ulong[] table = new ulong[Tables * 256];
        for (int first = 0; first < 256; first++)
        {
            ulong crc = (ulong)first;
            for (int bit = 0; bit < 8; bit++)
                crc = (crc & 1) != 0 ? (crc >> 1) ^ Reflected : crc >> 1;
            table[first] = crc;
        }

        for (int at = 256; at < table.Length; at++)
            table[at] = table[(byte)table[at - 256]] ^ (table[at - 256] >> 8);
        return table;
    }
}
