using System.Globalization;

namespace Garnet.Aof.Format;

/// <summary>Names of snapshot files: <c>snapshot-&lt;last batch, 20 digits&gt;.snap</c>.</summary>
internal static class SnapshotFileName
{
    private const string Prefix = "snapshot-", Suffix = ".snap";
    private const int Digits = 20;

    public static string Of(ulong batch) => string.Create(CultureInfo.InvariantCulture, $"{Prefix}{batch:D20}{Suffix}");

    public static bool TryParse(string name, out ulong batch)
    {
        batch = 0;
        return name.Length == Prefix.Length + Digits + Suffix.Length
            && name.StartsWith(Prefix, StringComparison.Ordinal) && name.EndsWith(Suffix, StringComparison.Ordinal)
            && ulong.TryParse(name.AsSpan(Prefix.Length, Digits), NumberStyles.None, CultureInfo.InvariantCulture, out batch);
    }
}
