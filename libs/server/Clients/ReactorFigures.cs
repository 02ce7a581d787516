using System.Numerics;
using System.Text;

namespace Garnet.Server.Clients;

/// <summary>What one reactor has counted; written by its thread only, summed up by whoever asks.</summary>
internal sealed class ReactorFigures(int commands)
{
    /// <summary>Powers of two that run times are sorted into: up to 2^31 microseconds, 36 minutes.</summary>
    internal const int TimeBuckets = 32;

    // Scripts make codes of their own, of any length.
    private const int ErrorCodesMax = 128, ErrorCodeCharsMax = 64;

    /// <summary>Runs per command.</summary>
    internal readonly long[] Calls = new long[commands];
    /// <summary>Runs per command that answered an error.</summary>
    internal readonly long[] Failed = new long[commands];
    /// <summary>Runs per command that were refused before they ran.</summary>
    internal readonly long[] Rejected = new long[commands];
    /// <summary>Microseconds per command, as far as it was timed by itself.</summary>
    internal readonly long[] TimedUs = new long[commands];
    /// <summary>Runs per command that were timed by themselves.</summary>
    internal readonly long[] TimedCalls = new long[commands];
    /// <summary>Timed runs per command and power of two of microseconds: index is command * <see cref="TimeBuckets"/> + bucket; bucket n holds times below 2^n.</summary>
    internal readonly long[] TimedByBucket = new long[commands * TimeBuckets];
    /// <summary>Microseconds spent running commands.</summary>
    internal long BusyUs;
    /// <summary>Bytes received.</summary>
    internal long BytesIn;
    /// <summary>Bytes given to sockets.</summary>
    internal long BytesOut;
    /// <summary>Connections refused for not speaking the protocol.</summary>
    internal long ProtocolErrors;
    /// <summary>Clients given up because all of them had too much memory.</summary>
    internal int EvictedClients;
    /// <summary>Connections closed for not reading.</summary>
    internal long OutputLimitCloses;
    /// <summary>Commands that failed through a mistake of the server.</summary>
    internal long CommandFailures;
    /// <summary>Error replies.</summary>
    internal long Errors;
    /// <summary>Error replies by code; guarded by itself.</summary>
    internal readonly Dictionary<string, long> ErrorsByCode = [];

    /// <summary>Counts a run that was timed by itself.</summary>
    internal void CountTimed(int command, long microseconds)
    {
        TimedCalls[command]++;
        TimedUs[command] += microseconds;
        int bucket = Math.Min(64 - BitOperations.LeadingZeroCount((ulong)Math.Max(microseconds, 0)), TimeBuckets - 1);
        TimedByBucket[(command * TimeBuckets) + bucket]++;
    }

    /// <summary>Microseconds that so many percent of the runs of a command's buckets stay below.</summary>
    internal static long BoundOf(ReadOnlySpan<long> buckets, double percentile)
    {
        long runs = 0, below = 0;
        foreach (long count in buckets)
            runs += count;
        for (int i = 0; i < buckets.Length; i++)
        {
            below += buckets[i];
            if (below > 0 && below >= runs * percentile / 100)
                return 1L << i;
        }

        return 0;
    }

    /// <summary>Counts an error reply by its first word.</summary>
    internal void CountError(ReadOnlySpan<byte> text)
    {
        Errors++;
        int blank = text.IndexOf((byte)' ');
        ReadOnlySpan<byte> word = blank > 0 ? text[..blank] : text;
        Span<char> code = stackalloc char[ErrorCodeCharsMax];
        code = code[..Encoding.Latin1.GetChars(word[..Math.Min(word.Length, ErrorCodeCharsMax)], code)];
        lock (ErrorsByCode)
        {
            var counts = ErrorsByCode.GetAlternateLookup<ReadOnlySpan<char>>();
            if (counts.TryGetValue(code, out long count))
                counts[code] = count + 1;
            else if (ErrorsByCode.Count < ErrorCodesMax)
                counts[code] = 1;
        }
    }
}
