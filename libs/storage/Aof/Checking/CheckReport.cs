using System.Globalization;

namespace Garnet.Aof;

/// <summary>What a check of a data directory found.</summary>
public sealed record CheckReport
{
    /// <summary>Everything there is to say, file by file.</summary>
    public required IReadOnlyList<CheckFinding> Findings { get; init; }
    /// <summary>The last batch a recovery would come to; 0 if there is none.</summary>
    public required ulong LastBatch { get; init; }
    /// <summary>Batches read and found whole.</summary>
    public required long Batches { get; init; }
    /// <summary>What a start does not need and an operator may want to know all the same; empty if there is nothing.</summary>
    public string Remark { get; init; } = "";
    /// <summary>So many batches, in words.</summary>
    public static string InWords(long batches) => batches == 1 ? "1 batch" : $"{batches} batches";
    /// <summary>The end of the year 9999 in Unix microseconds: what a file says beyond is no moment.</summary>
    private const ulong LastUnixUs = 253_402_300_799_000_000;

    /// <summary>What is missing behind the last batch that is left, in words that go before or behind "lost"; the moment, in Unix microseconds, is 0 if it is not known.</summary>
    internal static string LossInWords(ulong last, ulong known, ulong sinceUnixUs)
    {
        string since = sinceUnixUs is 0 or > LastUnixUs ? ""
            : string.Create(CultureInfo.InvariantCulture,
                $" (since {DateTime.UnixEpoch.AddMicroseconds(sinceUnixUs):yyyy-MM-dd HH:mm:ss} UTC)");
        return $"{known - last} of {InWords((long)known)}{since}";
    }

    /// <summary>True if nothing is damaged. An interrupted write at the end is no damage.</summary>
    public bool IsSound => !Findings.Any(static finding => finding.IsDamage);
}
