using System.Globalization;

namespace Garnet.Aof.Format;

/// <summary>The tier of a data directory: the id that its file and the snapshots have, and the directory that the file was in last.</summary>
public sealed record TierName(UInt128 Id, string Path)
{
    /// <summary>Where a file is of which nobody knows where it is.</summary>
    public const string UnknownPath = "/";
    private const int PathCharsMax = 8192; // of the line, in a manifest of 16 KiB

    internal string Encode() => string.Create(CultureInfo.InvariantCulture, $"{Id:x32} {Uri.EscapeDataString(Path)}");

    internal static bool TryDecode(string text, out TierName? name)
    {
        name = null;
        string[] words = text.Split(' ');
        if (words.Length != 2 || words[0].Length != 32 || words[1].Length is 0 or > PathCharsMax)
            return false;
        if (!UInt128.TryParse(words[0], NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out UInt128 id) || id == 0)
            return false;
        name = new TierName(id, Uri.UnescapeDataString(words[1]));
        return true;
    }
}
