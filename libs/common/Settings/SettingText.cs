using System.Globalization;

namespace Garnet.Common;

/// <summary>
/// Settings to text and back. Refusals are whole sentences in redis-server's wording, because tools and test suites
/// match on them.
/// </summary>
public static class SettingText
{
    public const string NotYesNo = "argument must be 'yes' or 'no'";
    public const string NotMemory = "argument must be a memory value";
    public const string NotInteger = "argument couldn't be parsed into an integer";
    public const string WrongCount = "wrong number of arguments";

    public static bool TryYesNo(string text, out bool value)
    {
        value = text.Equals("yes", StringComparison.OrdinalIgnoreCase);
        return value || text.Equals("no", StringComparison.OrdinalIgnoreCase);
    }

    public static string Print(bool value) => value ? "yes" : "no";

    /// <summary>A number in the unit of its setting; null if it is one and lies within the bounds, else the refusal.</summary>
    public static string? TryNumber(string text, SettingAttribute declared, out long value)
    {
        string? refusal = declared.Unit switch
        {
            SettingUnit.Bytes => TryMemory(text, out value) || (declared.Min < 0 && TryInteger(text, out value)) ? null : NotMemory,
            SettingUnit.Octal => TryOctal(text, out value) ? null : NotInteger,
            SettingUnit.Seconds or SettingUnit.Milliseconds or SettingUnit.Microseconds
                => TryInteger(text, out value) || TryTime(text, declared.Unit, out value) ? null : NotInteger,
            _ => TryInteger(text, out value) ? null : NotInteger,
        };
        if (refusal is not null)
            return refusal;
        if (value >= declared.Min && value <= declared.Max)
            return null;
        return declared.Unit == SettingUnit.Octal
            ? $"argument must be between {Octal(declared.Min)} and {Octal(declared.Max)} inclusive"
            : $"argument must be between {declared.Min} and {declared.Max} inclusive";
    }

    public static string PrintNumber(long value, SettingUnit unit)
        => unit == SettingUnit.Octal ? Octal(value) : value.ToString(CultureInfo.InvariantCulture);

    /// <summary>A decimal integer as redis reads it: no plus sign, no blanks, no leading zeros.</summary>
    public static bool TryInteger(ReadOnlySpan<char> text, out long value)
    {
        value = 0;
        ReadOnlySpan<char> digits = text is ['-', ..] ? text[1..] : text;
        if (digits.IsEmpty || !char.IsAsciiDigit(digits[0]))
            return false;
        if (digits[0] == '0' && text.Length > 1)
            return false;
        return long.TryParse(text, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out value);
    }

    /// <summary>Bytes with an optional unit: <c>k m g</c> are powers of 1000, <c>kb mb gb tb</c> powers of 1024.</summary>
    public static bool TryMemory(ReadOnlySpan<char> text, out long bytes)
    {
        bytes = 0;
        int digits = 0;
        while (digits < text.Length && char.IsAsciiDigit(text[digits])) digits++;
        if (digits == 0 || !long.TryParse(text[..digits], NumberStyles.None, CultureInfo.InvariantCulture, out long count))
            return false;
        if (!TryMemoryUnit(text[digits..], out long unit))
            return false;
        if (count > long.MaxValue / unit)
            return false;
        bytes = count * unit;
        return true;
    }

    /// <summary>A list of words between blanks; empty text is an empty list.</summary>
    public static string[] Words(string text)
        => text.Split(' ', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);

    /// <summary>Bytes for a person: <c>1.50 GiB</c>.</summary>
    public static string PrintMemory(long bytes) => bytes switch
    {
        >= 1L << 30 => string.Create(CultureInfo.InvariantCulture, $"{bytes / (double)(1L << 30):0.00} GiB"),
        >= 1L << 20 => string.Create(CultureInfo.InvariantCulture, $"{bytes / (double)(1L << 20):0.0} MiB"),
        _ => string.Create(CultureInfo.InvariantCulture, $"{bytes} bytes"),
    };

    private static bool TryMemoryUnit(ReadOnlySpan<char> unit, out long factor)
    {
        Span<char> lower = stackalloc char[2];
        factor = 1;
        if (unit.Length > 2)
            return false;
        unit.ToLowerInvariant(lower);
        factor = lower[..unit.Length] switch
        {
            "" or "b" => 1,
            "k" => 1_000,
            "kb" => 1L << 10,
            "m" => 1_000_000,
            "mb" => 1L << 20,
            "g" => 1_000_000_000,
            "gb" => 1L << 30,
            "t" => 1_000_000_000_000,
            "tb" => 1L << 40,
            _ => 0,
        };
        return factor != 0;
    }

    private static bool TryTime(ReadOnlySpan<char> text, SettingUnit unit, out long value)
    {
        value = 0;
        int digits = 0;
        while (digits < text.Length && char.IsAsciiDigit(text[digits])) digits++;
        long microseconds = text[digits..] switch
        {
            "us" => 1,
            "ms" => 1_000,
            "s" => 1_000_000,
            "m" => 60_000_000,
            "h" => 3_600_000_000,
            "d" => 86_400_000_000,
            _ => 0,
        };
        if (microseconds == 0 || !TryInteger(text[..digits], out long count))
            return false;
        long perUnit = unit switch { SettingUnit.Seconds => 1_000_000, SettingUnit.Milliseconds => 1_000, _ => 1 };
        Int128 total = (Int128)count * microseconds;
        if (total % perUnit != 0 || total / perUnit > long.MaxValue)
            return false;
        value = (long)(total / perUnit);
        return true;
    }

    private static bool TryOctal(string text, out long value)
    {
        value = 0;
        if (text.Length is 0 or > 20)
            return false;
        foreach (char digit in text)
        {
            if (digit is < '0' or > '7')
                return false;
            value = (value << 3) | (uint)(digit - '0');
        }
        return true;
    }

    private static string Octal(long value) => Convert.ToString(value, 8);
}
