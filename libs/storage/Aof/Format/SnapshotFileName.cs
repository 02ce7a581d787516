using System.Globalization;

namespace Garnet.Aof.Format;

/// <summary>
/// Names of snapshot files: <c>snapshot-&lt;last batch, 20 digits&gt;.snap</c>, <c>.tmp</c> behind it while it is written.
/// </summary>
internal static class SnapshotFileName
{
    private const string Prefix = "snapshot-", Suffix = ".snap", UnfinishedSuffix = ".tmp";
    private const int Digits = 20;

    public static string Of(ulong batch) => string.Create(CultureInfo.InvariantCulture, $"{Prefix}{batch:D20}{Suffix}");

    public static bool TryParse(string name, out ulong batch)
    {
        batch = 0;
        return name.Length == Prefix.Length + Digits + Suffix.Length
            && name.StartsWith(Prefix, StringComparison.Ordinal) && name.EndsWith(Suffix, StringComparison.Ordinal)
            && ulong.TryParse(name.AsSpan(Prefix.Length, Digits), NumberStyles.None, CultureInfo.InvariantCulture, out batch);
    }

    /// <summary>True for a snapshot that was being written and may be deleted at a start.</summary>
    public static bool IsUnfinished(string name) =>
        name.EndsWith(UnfinishedSuffix, StringComparison.Ordinal) && TryParse(name[..^UnfinishedSuffix.Length], out _);
}
