using System.Globalization;
using System.Text;
using Garnet.Common;

namespace Garnet.Migration;

/// <summary>
/// How far a target is: of which history, up to where, and in which database the next change is. It is a key of the target, written in the same
/// transaction as the changes up to it: so whoever goes on there applies none twice and leaves none out.
/// </summary>
/// <param name="History">The source's replication id.</param>
/// <param name="Offset">Bytes of its stream that are applied; -1: the copy before the stream is not all there.</param>
/// <param name="Database">The one that is selected at that place.</param>
/// <param name="Times">Which times of expiry its keys have.</param>
internal sealed record Place(string History, long Offset, int Database, TargetTimes Times)
{

    private const string KeyIsOurs = "garnet-server migrate keeps its place there. Delete the key if it is of no use";

    /// <summary>The key, in database 0.</summary>
    internal static byte[] Key { get; } = "garnet:migration"u8.ToArray();

    /// <summary>The same for people.</summary>
    internal static string Name { get; } = Encoding.ASCII.GetString(Key);

    /// <summary>While the copy is not all there: whose it is, so that two who copy at once notice.</summary>
    internal string Token { get; init; } = "";

    /// <summary>True while not all of the copy is there.</summary>
    internal bool IsCopying => Offset < 0;

    /// <summary>What the key holds.</summary>
    internal byte[] Text =>
        Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture,
            $"{History} {Offset} {Database} {Times.ToString().ToLowerInvariant()}{(Token.Length > 0 ? " " : "")}{Token}"));

    /// <summary>True for the key in its database.</summary>
    internal static bool Is(int database, ReadOnlySpan<byte> key) => database == 0 && key.SequenceEqual(Key);

    /// <summary>Reads it.</summary>
    internal static Place Parse(string text)
    {
        string[] words = text.Split(' ');
        TargetTimes times = TargetTimes.Real;
        bool sound = words.Length is 4 or 5 && Enum.TryParse(words[3], ignoreCase: true, out times) && Enum.IsDefined(times);
        long offset = 0;
        int database = 0;
        sound = sound && long.TryParse(words[1], NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out offset)
            && int.TryParse(words[2], NumberStyles.None, CultureInfo.InvariantCulture, out database);
        return sound ? new(words[0], offset, database, times) { Token = words.Length > 4 ? words[4] : "" }
            : throw new GarnetException(
                ExitKind.Data, "the target cannot be gone on with", $"its key {Name} holds something else", KeyIsOurs);
    }
}
