using System.Globalization;

namespace Garnet.Aof.Snapshots;

/// <summary>
/// Names of snapshot files: <c>snapshot-</c>, the batch in twenty digits, <c>.snap</c>; <c>.tmp</c> behind it until it is published.
/// </summary>
public static class SnapshotFileName
{
    /// <summary>Ends the name of a file that is not published: at a start it may be deleted.</summary>
    public const string TemporaryEnding = ".tmp";

    private const string Beginning = "snapshot-", Ending = ".snap";
    private const int Digits = 20;

    /// <summary>The name of the snapshot that holds everything up to the batch.</summary>
    public static string Of(ulong batch) => string.Create(CultureInfo.InvariantCulture, $"{Beginning}{batch:D20}{Ending}");

    /// <summary>False if the name is not that of a published snapshot.</summary>
    public static bool TryParse(string name, out ulong batch)
    {
        batch = 0;
        ArgumentNullException.ThrowIfNull(name);
        return name.Length == Beginning.Length + Digits + Ending.Length
            && name.StartsWith(Beginning, StringComparison.Ordinal) && name.EndsWith(Ending, StringComparison.Ordinal)
            && ulong.TryParse(name.AsSpan(Beginning.Length, Digits), NumberStyles.None, CultureInfo.InvariantCulture, out batch);
    }
}
