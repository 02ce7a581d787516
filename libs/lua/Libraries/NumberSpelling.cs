using System.Globalization;

namespace Garnet.Lua.Libraries;

/// <summary>A number as C spells it with %.14g, or with fewer digits.</summary>
internal static class NumberSpelling
{
    /// <summary>Bytes of the longest.</summary>
    internal const int BytesMax = 32;

    /// <summary>Writes the number; returns the bytes.</summary>
    internal static int Write(double value, int precision, Span<byte> to)
    {
        if (!double.IsFinite(value))
            return Copy(double.IsNaN(value) ? "nan"u8 : value > 0 ? "inf"u8 : "-inf"u8, to);
        bool isWhole = value is > -1e14 and < 1e14 && value == Math.Truncate(value);
        bool isShort = isWhole ? TryWriteWhole(value, precision, to, out int bytes) : TryWriteShort(value, precision, to, out bytes);
        return isShort ? bytes : WriteLong(value, precision, to);
    }

    private static int Copy(ReadOnlySpan<byte> text, Span<byte> to)
    {
        text.CopyTo(to);
        return text.Length;
    }

    private static bool TryWriteWhole(double value, int precision, Span<byte> to, out int bytes)
    {
        if (value == 0 && double.IsNegative(value))
            bytes = Copy("-0"u8, to);
        else
            _ = ((long)value).TryFormat(to, out bytes, default, CultureInfo.InvariantCulture);
        return bytes - (double.IsNegative(value) ? 1 : 0) <= precision;
    }

    // The fewest digits that tell the number from its neighbours; if these are no more than are wanted, the others would be zeros.
    private static bool TryWriteShort(double value, int precision, Span<byte> to, out int bytes)
    {
        bytes = 0;
        double size = Math.Abs(value);
        if (size < 1e-4 || size >= 1e14 || !value.TryFormat(to, out bytes, default, CultureInfo.InvariantCulture))
            return false;
        ReadOnlySpan<byte> digits = to[..bytes].TrimStart("-0."u8);
        return digits.Length - (size >= 1 ? 1 : 0) <= precision; // without the point
    }

    private static int WriteLong(double value, int precision, Span<byte> to)
    {
        Span<byte> spelt = stackalloc byte[BytesMax];
        string format = "E" + (precision - 1).ToString(CultureInfo.InvariantCulture);
        _ = value.TryFormat(spelt, out int length, format, CultureInfo.InvariantCulture);
        int mark = spelt[..length].IndexOf((byte)'E');
        int exponent = int.Parse(spelt[(mark + 1)..length], CultureInfo.InvariantCulture);
        Span<byte> digits = stackalloc byte[BytesMax];
        int count = 0;
        foreach (byte letter in spelt[..mark])
        {
            if (letter is >= (byte)'0' and <= (byte)'9')
                digits[count++] = letter;
        }

        int at = 0;
        if (value < 0)
            to[at++] = (byte)'-';
        count = Math.Max(digits[..count].LastIndexOfAnyExcept((byte)'0') + 1, 1);
        return exponent < -4 || exponent >= precision
            ? at + WriteExponent(digits[..count], exponent, to[at..])
            : at + WritePoint(digits[..count], exponent, to[at..]);
    }

    private static int WriteExponent(ReadOnlySpan<byte> digits, int exponent, Span<byte> to)
    {
        int at = 0;
        to[at++] = digits[0];
        if (digits.Length > 1)
        {
            to[at++] = (byte)'.';
            at += Copy(digits[1..], to[at..]);
        }

        to[at++] = (byte)'e';
        to[at++] = exponent < 0 ? (byte)'-' : (byte)'+';
        _ = Math.Abs(exponent).TryFormat(to[at..], out int bytes, "00", CultureInfo.InvariantCulture);
        return at + bytes;
    }

    private static int WritePoint(ReadOnlySpan<byte> digits, int exponent, Span<byte> to)
    {
        if (exponent < 0)
        {
            "0.000"u8[..(1 - exponent)].CopyTo(to);
            return 1 - exponent + Copy(digits, to[(1 - exponent)..]);
        }

        int whole = exponent + 1;
        if (digits.Length <= whole)
        {
            to[..whole].Fill((byte)'0');
            _ = Copy(digits, to);
            return whole;
        }

        _ = Copy(digits[..whole], to);
        to[whole] = (byte)'.';
        return whole + 1 + Copy(digits[whole..], to[(whole + 1)..]);
    }
}
