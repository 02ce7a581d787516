using System.Buffers.Binary;
using System.Globalization;
using Garnet.Aof.Format;

namespace Garnet.Aof;

/// <summary>
/// A place in a history: behind a batch, named by its term, its number and the checksums of the headers of its parts. The
/// checksums are chained, so two logs that agree about a position agree about all that lies before it.
/// </summary>
public sealed record LogPosition(uint Term, ulong Batch, IReadOnlyList<uint> Crcs)
{
    /// <summary>Nothing: agrees with no log.</summary>
    public static LogPosition None { get; } = new(0, 0, []);

    /// <summary>True if there is something behind it that another log may be compared with.</summary>
    public bool IsKnown => Term != 0 && Crcs.Count > 0;

    /// <summary>The checksums as one number: with term and batch it names the place where there is no room for all of them.</summary>
    public uint Mark => MarkOf([.. Crcs]);

    /// <summary>The mark of a place with these checksums.</summary>
    public static uint MarkOf(ReadOnlySpan<uint> crcs)
    {
        Span<byte> bytes = stackalloc byte[sizeof(uint)];
        uint mark = 0;
        foreach (uint crc in crcs)
        {
            BinaryPrimitives.WriteUInt32LittleEndian(bytes, crc);
            mark = Crc32C.Of(bytes, mark);
        }
        return mark;
    }

    /// <summary>True if both name the same place of the same history.</summary>
    public bool Is(LogPosition other)
    {
        ArgumentNullException.ThrowIfNull(other);
        return Term == other.Term && Batch == other.Batch && Crcs.SequenceEqual(other.Crcs);
    }

    /// <summary>For messages and handshakes: <c>term:batch:crc,crc</c>.</summary>
    public override string ToString() =>
        string.Create(CultureInfo.InvariantCulture,
            $"{Term}:{Batch}:{string.Join(',', Crcs.Select(static crc => crc.ToString("x8", CultureInfo.InvariantCulture)))}");

    /// <summary>For people, who would take the other form for a token of clients.</summary>
    public string InWords =>
        IsKnown ? string.Create(CultureInfo.InvariantCulture, $"batch {Batch} of term {Term} (checksum {Mark:x8})") : "nothing";

    /// <summary>A place that is no other log's: whoever stands there gets everything.</summary>
    public static LogPosition Nowhere(ulong batch, int sublogs) => new(0, batch, new uint[Math.Max(1, sublogs)]);

    /// <summary>Reads what <see cref="ToString"/> wrote.</summary>
    public static bool TryParse(string text, out LogPosition position)
    {
        ArgumentNullException.ThrowIfNull(text);
        position = None;
        string[] words = text.Split(':');
        if (words.Length != 3 || !uint.TryParse(words[0], NumberStyles.None, CultureInfo.InvariantCulture, out uint term)
            || !ulong.TryParse(words[1], NumberStyles.None, CultureInfo.InvariantCulture, out ulong batch)) return false;
        var crcs = new List<uint>();
        foreach (string word in words[2].Split(',', StringSplitOptions.RemoveEmptyEntries))
        {
            if (crcs.Count == AofSettings.SublogsMax
                || !uint.TryParse(word, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture, out uint crc)) return false;
            crcs.Add(crc);
        }
        position = new LogPosition(term, batch, crcs);
        return true;
    }
}
