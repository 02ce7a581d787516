using System.Globalization;
using System.Numerics;

namespace Garnet.Types.Counters;

/// <summary>
/// The 80-bit floating point of x87, which Redis computes INCRBYFLOAT with: a 64-bit mantissa and a wide exponent, rounded to
/// nearest even. Worked out with big integers, so that every digit of the reply is the reference's; microseconds, not nanoseconds.
/// </summary>
public readonly struct ExtendedFloat
{
    /// <summary>Longest text read or written, in bytes (Redis's MAX_LONG_DOUBLE_CHARS).</summary>
    public const int TextBytesMax = 5 * 1024;

    private const int MantissaBits = 64;
    private const int ExponentMax = 16384;
    private const int DecimalExponentMax = 4950;
    private const int FractionDigits = 17;

    private readonly BigInteger _mantissa; // signed, at most 64 bits of magnitude
    private readonly int _exponent;        // value = mantissa * 2^exponent
    private readonly int _infinity;        // -1, 0, 1

    private ExtendedFloat(BigInteger mantissa, int exponent, int infinity = 0)
    {
        _mantissa = mantissa;
        _exponent = exponent;
        _infinity = infinity;
    }

    /// <summary>True unless it is infinite.</summary>
    public bool IsFinite => _infinity == 0;

    /// <summary>Reads what C's strtold reads, the whole text and no NaN: decimal, hexadecimal (0x…), inf.</summary>
    public static bool TryParse(ReadOnlySpan<byte> text, out ExtendedFloat value)
    {
        value = default;
        if (text.Length is 0 or > TextBytesMax)
            return false;
        bool negative = text[0] == '-';
        if (text[0] is (byte)'-' or (byte)'+')
            text = text[1..];
        if (IsWord(text, "inf"u8) || IsWord(text, "infinity"u8))
        {
            value = new ExtendedFloat(0, 0, negative ? -1 : 1);
            return true;
        }

        bool hexadecimal = text.Length > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
        return hexadecimal ? TryParseDigits(text[2..], 16, negative, out value) : TryParseDigits(text, 10, negative, out value);
    }

    /// <summary>The sum, rounded; false if it is infinite or not a number.</summary>
    public static bool TryAdd(ExtendedFloat left, ExtendedFloat right, out ExtendedFloat sum)
    {
        sum = default;
        if (left._infinity != 0 || right._infinity != 0)
            return false;
        int exponent = Math.Min(left._exponent, right._exponent);
        BigInteger exact = (left._mantissa << (left._exponent - exponent)) + (right._mantissa << (right._exponent - exponent));
        sum = Round(exact, exponent, sticky: false);
        return sum._infinity == 0;
    }

    /// <summary>The difference, rounded; false if it is infinite or not a number.</summary>
    public static bool TrySubtract(ExtendedFloat left, ExtendedFloat right, out ExtendedFloat difference) =>
        TryAdd(left, new ExtendedFloat(-right._mantissa, right._exponent, -right._infinity), out difference);

    /// <summary>Negative, zero or positive as the left one is smaller, equal or greater; both are finite.</summary>
    public static int Compare(ExtendedFloat left, ExtendedFloat right)
    {
        int exponent = Math.Min(left._exponent, right._exponent);
        return (left._mantissa << (left._exponent - exponent)).CompareTo(right._mantissa << (right._exponent - exponent));
    }

    /// <summary>Writes the value with at most 17 digits behind the point, without trailing zeros; returns the bytes used.</summary>
    public int Write(Span<byte> to)
    {
        BigInteger scaled = BigInteger.Abs(_mantissa) * BigInteger.Pow(10, FractionDigits);
        if (_exponent >= 0)
            scaled <<= _exponent;
        else
            scaled = ShiftRightRounded(scaled, -_exponent);
        string digits = scaled.ToString(CultureInfo.InvariantCulture).PadLeft(FractionDigits + 1, '0');
        string fraction = digits[^FractionDigits..].TrimEnd('0');
        string text = digits[..^FractionDigits] + (fraction.Length > 0 ? "." + fraction : "");
        if (_mantissa.Sign < 0 && text != "0")
            text = "-" + text;
        return System.Text.Encoding.ASCII.GetBytes(text, to);
    }

    private static bool TryParseDigits(ReadOnlySpan<byte> text, int radix, bool negative, out ExtendedFloat value)
    {
        value = default;
        BigInteger digits = BigInteger.Zero;
        int pointDigits = 0, seen = 0, i = 0;
        bool point = false;
        for (; i < text.Length; i++)
        {
            if (text[i] == '.' && !point)
            {
                point = true;
                continue;
            }

            int digit = Digit(text[i]);
            if (digit < 0 || digit >= radix)
                break;
            digits = (digits * radix) + digit;
            seen++;
            pointDigits += point ? 1 : 0;
        }

        if (seen == 0 || !TryExponent(text[i..], radix == 16 ? 'p' : 'e', out int exponent))
            return false;
        if (digits.IsZero)
            return true;
        value = radix == 16 ? Round(digits, exponent - (pointDigits * 4), sticky: false) : FromDecimal(digits, exponent - pointDigits);
        if (negative)
            value = new ExtendedFloat(-value._mantissa, value._exponent, -value._infinity);
        return value._infinity == 0 && !value._mantissa.IsZero; // too large or too small for the format: refused, as by ERANGE
    }

    private static bool TryExponent(ReadOnlySpan<byte> text, char mark, out int exponent)
    {
        exponent = 0;
        if (text.Length == 0)
            return true;
        if ((text[0] | 0x20) != mark || text.Length < 2)
            return false;
        text = text[1..];
        bool negative = text[0] == '-';
        if (text[0] is (byte)'-' or (byte)'+')
            text = text[1..];
        if (text.Length == 0)
            return false;
        foreach (byte b in text)
        {
            if (b is < (byte)'0' or > (byte)'9')
                return false;
            exponent = Math.Min((exponent * 10) + b - '0', 1_000_000);
        }

        exponent = negative ? -exponent : exponent;
        return true;
    }

    private static ExtendedFloat FromDecimal(BigInteger digits, int exponent)
    {
        long magnitude = (long)BigInteger.Log10(digits) + exponent;
        if (magnitude > DecimalExponentMax)
            return new ExtendedFloat(0, 0, 1);
        if (magnitude < -DecimalExponentMax)
            return default;
        if (exponent >= 0)
            return Round(digits * BigInteger.Pow(10, exponent), 0, sticky: false);
        BigInteger divisor = BigInteger.Pow(10, -exponent);
        int shift = (int)Math.Max(0, (long)divisor.GetBitLength() - digits.GetBitLength() + MantissaBits + 2);
        BigInteger quotient = BigInteger.DivRem(digits << shift, divisor, out BigInteger rest);
        return Round(quotient, -shift, sticky: !rest.IsZero);
    }

    private static ExtendedFloat Round(BigInteger exact, int exponent, bool sticky)
    {
        BigInteger magnitude = BigInteger.Abs(exact);
        int excess = (int)(magnitude.GetBitLength() - MantissaBits);
        if (excess > 0)
        {
            BigInteger rest = magnitude & ((BigInteger.One << excess) - 1);
            BigInteger half = BigInteger.One << (excess - 1);
            magnitude >>= excess;
            exponent += excess;
            bool up = rest > half || (rest == half && (sticky || !magnitude.IsEven));
            magnitude += up ? 1 : 0;
        }

        if (magnitude.GetBitLength() + exponent > ExponentMax)
            return new ExtendedFloat(0, 0, exact.Sign);
        return new ExtendedFloat(exact.Sign < 0 ? -magnitude : magnitude, exponent);
    }

    private static BigInteger ShiftRightRounded(BigInteger value, int bits)
    {
        BigInteger rest = value & ((BigInteger.One << bits) - 1);
        BigInteger half = BigInteger.One << (bits - 1);
        BigInteger shifted = value >> bits;
        return rest > half || (rest == half && !shifted.IsEven) ? shifted + 1 : shifted;
    }

    private static int Digit(byte b) => b switch
    {
        >= (byte)'0' and <= (byte)'9' => b - '0',
        >= (byte)'a' and <= (byte)'f' => b - 'a' + 10,
        >= (byte)'A' and <= (byte)'F' => b - 'A' + 10,
        _ => -1,
    };

    private static bool IsWord(ReadOnlySpan<byte> text, ReadOnlySpan<byte> word) => System.Text.Ascii.EqualsIgnoreCase(text, word);
}
