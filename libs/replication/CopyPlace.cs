using System.Globalization;
using Garnet.Aof;

namespace Garnet.Replication;

/// <summary>How far a full copy has come: which snapshot it is, by its place and the time of its cut, and the blocks of it that have come whole.</summary>
public sealed record CopyPlace(LogPosition At, long StartedUnixUs, ulong Blocks)
{
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{At}@{StartedUnixUs}@{Blocks}");

    /// <summary>Reads what <see cref="ToString"/> wrote.</summary>
    public static bool TryParse(string text, out CopyPlace? place)
    {
        place = null;
        string[] words = text.Split('@');
        if (words.Length != 3 || !LogPosition.TryParse(words[0], out LogPosition at)
            || !long.TryParse(words[1], NumberStyles.None, CultureInfo.InvariantCulture, out long started)
            || !ulong.TryParse(words[2], NumberStyles.None, CultureInfo.InvariantCulture, out ulong blocks))
            return false;
        place = new CopyPlace(at, started, blocks);
        return true;
    }
}
