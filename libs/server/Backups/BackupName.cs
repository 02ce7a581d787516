using System.Globalization;

namespace Garnet.Server.Backups;

/// <summary>What a backup is called: its moment to the second, and a number from the second of that second on.</summary>
internal readonly record struct BackupName(DateTime Second, int Number) : IComparable<BackupName>
{
    /// <summary>Behind the name while it is written.</summary>
    internal const string Unfinished = ".tmp";

    private const string Start = "backup-", Moment = "yyyyMMdd'T'HHmmss'Z'", Ending = ".grnb";
    private const int NumberMax = 9999;

    /// <summary>The first name of that moment that is not taken.</summary>
    internal static BackupName Of(long unixMs, IReadOnlyCollection<string> taken)
    {
        DateTime now = DateTimeOffset.FromUnixTimeMilliseconds(unixMs).UtcDateTime;
        var name = new BackupName(now.AddTicks(-(now.Ticks % TimeSpan.TicksPerSecond)), 1);
        while (taken.Contains(name.ToString()) && name.Number < NumberMax)
            name = name with { Number = name.Number + 1 };
        return name;
    }

    /// <summary>Reads a name; false if it is of something else.</summary>
    internal static bool TryParse(string text, out BackupName name)
    {
        name = default;
        if (!text.StartsWith(Start, StringComparison.Ordinal) || !text.EndsWith(Ending, StringComparison.Ordinal))
            return false;
        string inner = text[Start.Length..^Ending.Length];
        int dash = inner.IndexOf('-', StringComparison.Ordinal), number = 1;
        if (dash >= 0 && !int.TryParse(inner.AsSpan(dash + 1), NumberStyles.None, CultureInfo.InvariantCulture, out number))
            return false;
        if (!DateTime.TryParseExact(dash < 0 ? inner : inner[..dash], Moment, CultureInfo.InvariantCulture,
                DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal, out DateTime second))
            return false;
        name = new BackupName(second, number);
        return name.ToString() == text;
    }

    /// <summary>True of the name of one that was not finished.</summary>
    internal static bool IsUnfinished(string text) =>
        text.EndsWith(Unfinished, StringComparison.Ordinal) && TryParse(text[..^Unfinished.Length], out _);

    /// <inheritdoc/>
    public int CompareTo(BackupName other) => (Second, Number).CompareTo((other.Second, other.Number));

    /// <inheritdoc/>
    public override string ToString() =>
        Start + Second.ToString(Moment, CultureInfo.InvariantCulture) + (Number > 1 ? $"-{Number}" : "") + Ending;
}
