using System.Globalization;
using System.Runtime.CompilerServices;

namespace Garnet.Common.Bytes;

/// <summary>Numbers as the protocol spells them.</summary>
public static unsafe class NumberText
{
    /// <summary>Room that <see cref="Write(byte*, long)"/> needs at most, in bytes.</summary>
    public const int Int64BytesMax = 20;

    /// <summary>Room that <see cref="WriteDouble"/> needs at most, in bytes.</summary>
    public const int DoubleBytesMax = 32;

    private const int PlainDigitsMax = 18;

    private static ReadOnlySpan<double> PowersOfTen =>
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18];

    /// <summary>
    /// Reads a signed 64-bit integer the strict way of Redis's string2ll: digits with at most one leading minus, no plus,
    /// no blanks, no leading zeros, no "-0".
    /// </summary>
    public static bool TryInt64(ReadOnlySpan<byte> text, out long value)
    {
        value = 0;
        if (text.Length is 0 or > 20)
            return false;
        bool negative = text[0] == '-';
        int i = negative ? 1 : 0;
        if (i == text.Length)
            return false;
        if (text[i] == '0')
            return text.Length == 1;
        ulong magnitude = 0;
        for (; i < text.Length; i++)
        {
            uint digit = (uint)text[i] - '0';
            if (digit > 9 || magnitude > (ulong.MaxValue - digit) / 10)
                return false;
            magnitude = (magnitude * 10) + digit;
        }

        if (magnitude > (ulong)long.MaxValue + (negative ? 1UL : 0UL))
            return false;
        value = negative ? (long)(0 - magnitude) : (long)magnitude;
        return true;
    }

    /// <summary>
    /// Reads a double as C's strtod would, the whole text, refusing blanks, NaN and what is too large or too small for one (Redis's rule
    /// for scores and floats). Zero on false.
    /// </summary>
    public static bool TryDouble(ReadOnlySpan<byte> text, out double value)
    {
        if (TryPlain(text, out value))
            return true;
        if (text.Length is > 0 and <= 9 && TryInfinity(text, out value))
            return true;
        if (FloatText.TryRead(text, out value, out bool fits) && fits)
            return true;
        value = 0;
        return false;
    }

    /// <summary>Reads a double as C's strtod does: with blanks in front, what is too large or too small as infinity or zero (Redis's rule for the ends of ranges).</summary>
    public static bool TryLoose(ReadOnlySpan<byte> text, out double value)
    {
        text = text.TrimStart(" \t\n\v\f\r"u8);
        return TryDouble(text, out value) || FloatText.TryRead(text, out value, out _);
    }

    /// <summary>Writes the integer at <paramref name="to"/>; returns the byte after it.</summary>
    public static byte* Write(byte* to, long value)
    {
        ulong magnitude = (ulong)value;
        if (value < 0)
        {
            *to++ = (byte)'-';
            magnitude = 0 - magnitude;
        }

        return WriteUnsigned(to, magnitude);
    }

    /// <summary>Writes the unsigned integer at <paramref name="to"/>; returns the byte after it.</summary>
    public static byte* WriteUnsigned(byte* to, ulong value)
    {
        if (value < 10)
        {
            *to = (byte)('0' + value);
            return to + 1;
        }

        int digits = CountDigits(value);
        byte* end = to + digits;
        byte* at = end;
        while (value >= 10)
        {
            ulong quotient = value / 10;
            *--at = (byte)('0' + (value - (quotient * 10)));
            value = quotient;
        }

        *--at = (byte)('0' + value);
        return end;
    }

    /// <summary>Decimal digits of the value.</summary>
    public static int CountDigits(ulong value)
    {
        int digits = 1;
        while (value >= 10_000)
        {
            value /= 10_000;
            digits += 4;
        }

        return digits + (value >= 1000 ? 3 : value >= 100 ? 2 : value >= 10 ? 1 : 0);
    }

    /// <summary>Digits of the signed value including the minus.</summary>
    public static int Length(long value) => value < 0 ? 1 + CountDigits(0 - (ulong)value) : CountDigits((ulong)value);

    /// <summary>
    /// Writes the shortest text that reads back as the same double, spelling inf, -inf and nan as Redis does and
    /// using an exponent where C's %.17g would. Returns the bytes used.
    /// </summary>
    public static int WriteDouble(Span<byte> to, double value)
    {
        if (double.IsNaN(value))
            return Copy("nan"u8, to);
        if (double.IsInfinity(value))
            return Copy(value > 0 ? "inf"u8 : "-inf"u8, to);
        if (value == Math.Floor(value) && Math.Abs(value) < 1e17)
        {
            if (value == 0 && double.IsNegative(value))
                return Copy("-0"u8, to);
            fixed (byte* start = to)
                return (int)(Write(start, (long)value) - start);
        }

        value.TryFormat(to, out int used, "R", CultureInfo.InvariantCulture);
        return LowerExponent(to[..used]);
    }

    // Digits, perhaps with a point among them: both numbers of the quotient are doubles as they are, so it is rounded once and right.
    private static bool TryPlain(ReadOnlySpan<byte> text, out double value)
    {
        value = 0;
        int sign = text.Length > 0 && text[0] == '-' ? 1 : 0, point = -1;
        if (text.Length - sign is 0 or > PlainDigitsMax + 1)
            return false;
        ulong digits = 0;
        for (int i = sign; i < text.Length; i++)
        {
            uint digit = (uint)text[i] - '0';
            if (digit <= 9)
            {
                digits = (digits * 10) + digit;
                continue;
            }

            if (text[i] != '.' || point >= 0 || i == sign || i == text.Length - 1)
                return false;
            point = i;
        }

        if (digits > 1UL << 53)
            return false;
        value = point < 0 ? (long)digits : (long)digits / PowersOfTen[text.Length - 1 - point];
        value = sign == 0 ? value : -value;
        return true;
    }

    private static int LowerExponent(Span<byte> text)
    {
        int e = text.IndexOf((byte)'E');
        if (e >= 0)
            text[e] = (byte)'e';
        return text.Length;
    }

    private static int Copy(ReadOnlySpan<byte> text, Span<byte> to)
    {
        text.CopyTo(to);
        return text.Length;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static bool TryInfinity(ReadOnlySpan<byte> text, out double value)
    {
        value = 0;
        bool negative = text[0] == '-';
        if (text[0] is (byte)'-' or (byte)'+')
            text = text[1..];
        if (!System.Text.Ascii.EqualsIgnoreCase(text, "inf"u8) && !System.Text.Ascii.EqualsIgnoreCase(text, "infinity"u8))
            return false;
        value = negative ? double.NegativeInfinity : double.PositiveInfinity;
        return true;
    }
}
