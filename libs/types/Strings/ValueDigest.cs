using System.IO.Hashing;

namespace Garnet.Types.Strings;

/// <summary>The digest of DIGEST and IFDEQ: XXH3, 64 bits, as 16 lower-case hexadecimal digits (Redis 8.4).</summary>
public static class ValueDigest
{
    /// <summary>Digits of a digest.</summary>
    public const int Digits = 16;

    /// <summary>The digest of the value as a number.</summary>
    public static ulong Of(ReadOnlySpan<byte> value) => XxHash3.HashToUInt64(value);

    /// <summary>Writes the digest of the value.</summary>
    public static void Write(ReadOnlySpan<byte> value, Span<byte> digits) => Print(Of(value), digits);

    /// <summary>Writes a hash as digits.</summary>
    public static void Print(ulong hash, Span<byte> digits)
    {
        for (int i = Digits - 1; i >= 0; i--)
        {
            digits[i] = "0123456789abcdef"u8[(int)(hash & 15)];
            hash >>= 4;
        }
    }

    /// <summary>True if the digits, in any case, are the digest of the value.</summary>
    public static bool Equals(ReadOnlySpan<byte> value, ReadOnlySpan<byte> digits)
    {
        Span<byte> own = stackalloc byte[Digits];
        Write(value, own);
        return System.Text.Ascii.EqualsIgnoreCase(own, digits);
    }
}
