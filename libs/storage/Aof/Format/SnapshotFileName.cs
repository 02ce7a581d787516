using System.Globalization;

namespace Garnet.Aof.Format;

/// <summary>
/// Names of snapshot files: <c>snapshot-&lt;last batch, 20 digits&gt;.snap</c>, <c>.tmp</c> behind it while it is written.
/// </summary>
public static class SnapshotFileName
{
    /// <summary>Ends the name of a file that is not published: at a start it may be deleted.</summary>
    public const string UnfinishedSuffix = ".tmp";

    private const string Prefix = "snapshot-", Suffix = ".snap";
    private const int Digits = 20;

    /// <summary>The name of the snapshot that holds everything up to the batch.</summary>
    public static string Of(ulong batch) => string.Create(CultureInfo.InvariantCulture, $"{Prefix}{batch:D20}{Suffix}");

    /// <summary>False if the name is not that of a published snapshot.</summary>
    public static bool TryParse(string name, out ulong batch)
    {
        ArgumentNullException.ThrowIfNull(name);
        batch = 0;
        return name.Length == Prefix.Length + Digits + Suffix.Length
            && name.StartsWith(Prefix, StringComparison.Ordinal) && name.EndsWith(Suffix, StringComparison.Ordinal)
            && ulong.TryParse(name.AsSpan(Prefix.Length, Digits), NumberStyles.None, CultureInfo.InvariantCulture, out batch);
    }

    /// <summary>True for a snapshot that was being written and may be deleted at a start.</summary>
    public static bool IsUnfinished(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        return name.EndsWith(UnfinishedSuffix, StringComparison.Ordinal) && TryParse(name[..^UnfinishedSuffix.Length], out _);
    }
}
