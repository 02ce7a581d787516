using HdrHistogram;

namespace Garnet.Load.Traffic;

/// <summary>Latencies in nanoseconds, kept within 0.1 %; what takes longer than an hour counts as an hour.</summary>
internal sealed class Latencies
{
    private const long HighestNs = 3_600_000_000_000;
    private const int Digits = 3;

    private readonly LongHistogram _counts = new(HighestNs, Digits);

    public long Max { get; private set; }

    public void Add(long nanoseconds)
    {
        long counted = Math.Clamp(nanoseconds, 0, HighestNs);
        _counts.RecordValue(counted);
        if (counted > Max) Max = counted;
    }

    /// <summary>The value that the given share (0..1) of the samples does not exceed.</summary>
    public long At(double share) => Math.Min(Max, _counts.GetValueAtPercentile(share * 100));

    public void Clear()
    {
        _counts.Reset();
        Max = 0;
    }
}
