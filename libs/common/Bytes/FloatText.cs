using System.Buffers;
using System.Globalization;
using System.Numerics;

namespace Garnet.Common.Bytes;

/// <summary>
/// Floating-point text of any length as C's strtod reads it: decimal or hexadecimal, rounded once, to even. No infinity by name, no NaN,
/// no blanks.
/// </summary>
internal static class FloatText
{
    private static readonly SearchValues<byte> DigitsAndPoint = SearchValues.Create("0123456789."u8);
    private static readonly SearchValues<byte> Decimal = SearchValues.Create("0123456789.+-eE"u8);

    private const int SignificandBits = 53, ExponentMax = 1023, LeastBit = -1074;
    private const long ExponentLimit = 1L << 40; // beyond what any text can make up for

    /// <summary>Reads the whole text. What is too large becomes infinity, what is too small zero, and <paramref name="fits"/> false.</summary>
    internal static bool TryRead(ReadOnlySpan<byte> text, out double value, out bool fits)
    {
        bool isNegative = text.Length > 0 && text[0] == '-';
        ReadOnlySpan<byte> number = text.Length > 0 && text[0] is (byte)'-' or (byte)'+' ? text[1..] : text;
        bool isHex = number.Length > 2 && number[0] == '0' && (number[1] | 0x20) == 'x';
        bool reads = isHex ? TryHex(number[2..], out value, out bool isZero) : TryDecimal(number, out value, out isZero);
        fits = reads && double.IsFinite(value) && (value != 0 || isZero);
        value = isNegative ? -value : value;
        return reads;
    }

    private static bool TryDecimal(ReadOnlySpan<byte> text, out double value, out bool isZero)
    {
        value = 0;
        int e = text.IndexOfAny((byte)'e', (byte)'E');
        ReadOnlySpan<byte> digits = e < 0 ? text : text[..e];
        isZero = digits.IndexOfAnyInRange((byte)'1', (byte)'9') < 0;
        if (digits.IndexOfAnyInRange((byte)'0', (byte)'9') < 0 || digits.IndexOfAnyExcept(DigitsAndPoint) >= 0
            || text.IndexOfAnyExcept(Decimal) >= 0)
            return false;
        return double.TryParse(text, NumberStyles.AllowDecimalPoint | NumberStyles.AllowExponent, CultureInfo.InvariantCulture, out value);
    }

    private static bool TryHex(ReadOnlySpan<byte> text, out double value, out bool isZero)
    {
        ulong bits = 0;
        bool hasLost = false, hasPoint = false;
        long scale = 0;
        int at = 0, digits = 0;
        for (; at < text.Length; at++)
        {
            if (text[at] == '.' && !hasPoint)
            {
                hasPoint = true;
                continue;
            }

            int digit = Digit(text[at]);
            if (digit < 0)
                break;
            digits++;
            bool isKept = bits >> 60 == 0;
            bits = isKept ? (bits << 4) | (uint)digit : bits;
            hasLost |= !isKept && digit != 0;
            scale += (isKept ? 0 : 4) - (hasPoint ? 4 : 0);
        }

        (value, isZero) = (0, bits == 0);
        if (digits == 0 || !TryExponent(text[at..], out long exponent))
            return false;
        value = Rounded(bits, hasLost, scale + exponent);
        return true;
    }

    private static int Digit(byte value) => value switch
    {
        >= (byte)'0' and <= (byte)'9' => value - '0',
        >= (byte)'a' and <= (byte)'f' => value - 'a' + 10,
        >= (byte)'A' and <= (byte)'F' => value - 'A' + 10,
        _ => -1,
    };

    private static bool TryExponent(ReadOnlySpan<byte> text, out long exponent)
    {
        exponent = 0;
        if (text.IsEmpty)
            return true;
        bool isNegative = text.Length > 1 && text[1] == '-';
        ReadOnlySpan<byte> digits = text[(text.Length > 1 && text[1] is (byte)'-' or (byte)'+' ? 2 : 1)..];
        if ((text[0] | 0x20) != 'p' || digits.IsEmpty || digits.IndexOfAnyExceptInRange((byte)'0', (byte)'9') >= 0)
            return false;
        foreach (byte digit in digits)
            exponent = Math.Min((exponent * 10) + (digit - '0'), ExponentLimit);
        exponent = isNegative ? -exponent : exponent;
        return true;
    }

    /// <summary>Bits times two to the power of <paramref name="scale"/>; <paramref name="hasLost"/> says that something below them is not zero.</summary>
    private static double Rounded(ulong bits, bool hasLost, long scale)
    {
        int length = 64 - BitOperations.LeadingZeroCount(bits);
        long top = scale + length - 1;
        if (bits == 0 || top < LeastBit - 1)
            return 0;
        if (top > ExponentMax)
            return double.PositiveInfinity;
        int dropped = length - (int)Math.Min(SignificandBits, top - LeastBit + 1);
        if (dropped > 0)
        {
            ulong whole = dropped == 64 ? 0 : bits >> dropped, rest = dropped == 64 ? bits : bits & ((1UL << dropped) - 1);
            ulong half = 1UL << (dropped - 1);
            bits = rest > half || (rest == half && (hasLost || (whole & 1) != 0)) ? whole + 1 : whole;
            scale += dropped;
        }

        return Math.ScaleB(bits, (int)scale);
    }
}
