using System.Globalization;
using Garnet.Common;

namespace Garnet.Server;

/// <summary>A list of percentiles between 0 and 100.</summary>
public sealed class Percentiles : ISettingValue
{
    private readonly double[] _values;

    private Percentiles(double[] values) => _values = values;

    public static Percentiles Default { get; } = new([50, 99, 99.9]);

    public IReadOnlyList<double> Values => _values;

    public string Text => string.Join(' ', Array.ConvertAll(_values, static value => value.ToString("R", CultureInfo.InvariantCulture)));

    public bool LinesAdd => false;

    public ISettingValue? Parse(string text, out string error)
    {
        string[] words = SettingText.Words(text);
        var values = new double[words.Length];
        for (int i = 0; i < words.Length; i++)
        {
            error = "Invalid latency-tracking-info-percentiles parameters";
            if (!double.TryParse(words[i], NumberStyles.Float, CultureInfo.InvariantCulture, out values[i]))
                return null;
            error = "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]";
            if (!(values[i] >= 0 && values[i] <= 100))
                return null;
        }
        error = "";
        return new Percentiles(values);
    }
}
