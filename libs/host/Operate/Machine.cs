using System.Globalization;
using System.Text.RegularExpressions;
using Garnet.Server;

namespace Garnet.Host.Operate;

/// <summary>What Linux says of itself, by the files in which it says it; how they are read is given, so that tests say it instead.</summary>
/// <param name="read">The text of a file, or null if there is none that may be read.</param>
/// <param name="memoryBytes">Memory that this process may use: the machine's, or its container's.</param>
internal sealed partial class Machine(Func<string, string?> read, long memoryBytes)
{
    /// <summary>The machine that this process runs on.</summary>
    public static Machine Own { get; } = new(ReadFile, MemoryPlan.AvailableBytes());

    /// <summary>Memory that may be used, in bytes.</summary>
    public long MemoryBytes => memoryBytes;

    /// <summary>Swap space that is in use or may be.</summary>
    public bool Swaps => Text("/proc/swaps").Contains('\n', StringComparison.Ordinal); // the first line is the table's head

    /// <summary>A file's text without blanks at its ends; empty if there is none.</summary>
    public string Text(string path) => read(path)?.Trim() ?? "";

    /// <summary>A file's number, or null.</summary>
    public long? Number(string path) =>
        long.TryParse(Text(path), NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out long number) ? number : null;

    /// <summary>How many files a process started from here may have open, once it has raised its limit; null: nobody says.</summary>
    public long? OpenFiles =>
        HardLimit().Match(Text("/proc/self/limits")) is { Success: true } found ? NumberIn(found) : null;

    /// <summary>How much of a process has been swapped out, in KiB.</summary>
    public long SwappedKiB(long process) =>
        Swapped().Match(Text($"/proc/{process}/status")) is { Success: true } found ? NumberIn(found) : 0;

    /// <summary>The kind of the file system that a path lies on (<c>tmpfs</c>, <c>ext4</c>); empty: nobody says.</summary>
    public string FileSystemOf(string path)
    {
        (string Mount, string Kind) best = ("", "");
        foreach (string line in Text("/proc/mounts").Split('\n'))
        {
            string[] words = line.Split(' ');
            if (words.Length > 2 && words[1].Length > best.Mount.Length && IsUnder(path, words[1]))
                best = (words[1], words[2]);
        }
        return best.Kind;
    }

    private static long NumberIn(Match found) => long.Parse(found.Groups[1].Value, CultureInfo.InvariantCulture);

    private static bool IsUnder(string path, string mount) =>
        mount == "/" || path == mount || path.StartsWith(mount + "/", StringComparison.Ordinal);

    private static string? ReadFile(string path)
    {
        try
        {
            return File.ReadAllText(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    [GeneratedRegex(@"^Max open files +\S+ +(\d{1,18}) ", RegexOptions.Multiline)]
    private static partial Regex HardLimit();

    [GeneratedRegex(@"^VmSwap:\s+(\d{1,15}) kB", RegexOptions.Multiline)]
    private static partial Regex Swapped();
}
