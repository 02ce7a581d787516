namespace Garnet.Types.HyperLogLogs;

/// <summary>
/// How many elements registers stand for, by Otmar Ertl's improved raw estimator ("New cardinality estimation algorithms for
/// HyperLogLog sketches", 2017), in the order of operations that gives Redis's numbers.
/// </summary>
public static class CardinalityEstimate
{
    private const double AlphaInfinity = 0.721347520444481703680; // 1 / (2 ln 2)
    private const int Highest = HyperLogLog.HashBits;

    public static long Of(ReadOnlySpan<byte> registers)
    {
        Span<int> histogram = stackalloc int[HyperLogLog.RegisterMax + 1];
        histogram.Clear();
        foreach (byte register in registers)
            histogram[register & HyperLogLog.RegisterMax]++;
        const double Count = HyperLogLog.Registers;
        double sum = Count * Tau((Count - histogram[Highest + 1]) / Count);
        for (int i = Highest; i >= 1; i--)
        {
            sum += histogram[i];
            sum *= 0.5;
        }

        sum += Count * Sigma(histogram[0] / Count);
        return (long)Math.Round(AlphaInfinity * Count * Count / sum, MidpointRounding.AwayFromZero);
    }

    private static double Sigma(double x)
    {
        if (x == 1)
            return double.PositiveInfinity;
        double factor = 1, sum = x, before;
        do
        {
            x *= x;
            before = sum;
            sum += x * factor;
            factor += factor;
        }
        while (before != sum);
        return sum;
    }

    private static double Tau(double x)
    {
        if (x is 0 or 1)
            return 0;
        double factor = 1, sum = 1 - x, before;
        do
        {
            x = Math.Sqrt(x);
            before = sum;
            factor *= 0.5;
            sum -= Math.Pow(1 - x, 2) * factor;
        }
        while (before != sum);
        return sum / 3;
    }
}
