using System.Globalization;

namespace Garnet.Load.Compare;

/// <summary>Medians and spreads of a few values.</summary>
internal static class Statistics
{
    public static double Median(IEnumerable<double> values)
    {
        double[] sorted = [.. values.Order()];
        if (sorted.Length == 0) return double.NaN;
        int middle = sorted.Length / 2;
        return sorted.Length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /// <summary>Median with its spread, such as <c>0.52 [0.50-0.55]</c>.</summary>
    public static string Spread(IReadOnlyCollection<double> values, string format)
    {
        if (values.Count == 0) return "-";
        return $"{Text(Median(values), format)} [{Text(values.Min(), format)}-{Text(values.Max(), format)}]";
    }

    public static string Text(double value, string format) => value.ToString(format, CultureInfo.InvariantCulture);
}
