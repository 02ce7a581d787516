using System.Globalization;

namespace Garnet.Aof.Format;

/// <summary>
/// Names of sublog files: <c>aof-&lt;sublog, 2 digits&gt;-&lt;first batch, 20 digits&gt;.log</c>; they sort as they were written.
/// </summary>
internal static class LogFileName
{
    private const string Prefix = "aof-", Suffix = ".log";
    private const int SublogDigits = 2, BatchDigits = 20;

    public static string Of(int sublog, ulong firstBatch) =>
        string.Create(CultureInfo.InvariantCulture, $"{Prefix}{sublog:D2}-{firstBatch:D20}{Suffix}");

    public static bool TryParse(string name, out int sublog, out ulong firstBatch)
    {
        sublog = 0;
        firstBatch = 0;
        if (name.Length != Prefix.Length + SublogDigits + 1 + BatchDigits + Suffix.Length)
            return false;
        if (!name.StartsWith(Prefix, StringComparison.Ordinal) || !name.EndsWith(Suffix, StringComparison.Ordinal))
            return false;
        ReadOnlySpan<char> numbers = name.AsSpan(Prefix.Length);
        return numbers[SublogDigits] == '-'
            && int.TryParse(numbers[..SublogDigits], NumberStyles.None, CultureInfo.InvariantCulture, out sublog)
            && ulong.TryParse(numbers.Slice(SublogDigits + 1, BatchDigits), NumberStyles.None, CultureInfo.InvariantCulture,
                out firstBatch);
    }
}
