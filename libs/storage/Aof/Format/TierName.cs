using Garnet.Media;

namespace Garnet.Aof.Format;

/// <summary>The tier of a data directory: the id that its files and the snapshots have, and the directories that they were in last; empty: it has no such part.</summary>
/// <param name="Id">Its id.</param>
/// <param name="Path">Where its part on a disk was.</param>
/// <param name="MemoryPath">Where its part in persistent memory was.</param>
public sealed record TierName(MediumId Id, string Path, string MemoryPath = "")
{
    /// <summary>Where a file is of which nobody knows where it is.</summary>
    public const string UnknownPath = "/";
    private const string NoPart = "none";
    private const int PathCharsMax = 4096; // of each path in the line, in a manifest of 16 KiB

    /// <summary>Where its parts lie, those that it has.</summary>
    public IEnumerable<string> Places => new[] { Path, MemoryPath }.Where(static path => path.Length > 0 && path != UnknownPath);

    internal string Encode() =>
        $"{Id} {Escape(Path)}{(MemoryPath.Length == 0 ? "" : " " + Escape(MemoryPath))}";

    /// <summary>Reads what a manifest says; <paramref name="hasMemory"/>: of a version whose tiers have a part in persistent memory.</summary>
    internal static bool TryDecode(string text, bool hasMemory, out TierName? name)
    {
        name = null;
        string[] words = text.Split(' ');
        if (words.Length != (hasMemory ? 3 : 2) || words[0].Length != 32)
            return false;
        if (!MediumId.TryParse(words[0], out MediumId id) || id.IsNone)
            return false;
        if (words.Skip(1).Any(static path => path.Length is 0 or > PathCharsMax) || words[^1] == NoPart)
            return false;
        string disk = words[1] == NoPart ? "" : Uri.UnescapeDataString(words[1]);
        name = new TierName(id, disk, hasMemory ? Uri.UnescapeDataString(words[2]) : "");
        return true;
    }

    private static string Escape(string path) => path.Length == 0 ? NoPart : Uri.EscapeDataString(path);
}
