using System.Globalization;
using System.Text;

namespace Garnet.Server.Telemetry;

/// <summary>
/// Metrics in the text format of OpenMetrics 1.0. What others chose (names of replicas, codes of errors of scripts) is escaped, and cut at
/// <see cref="LabelCharsMax"/>.
/// </summary>
internal sealed class MetricText
{
    /// <summary>Characters of a label's value at most: a name of a host has no more.</summary>
    private const int LabelCharsMax = 255;

    private readonly StringBuilder _text = new(32 * 1024); // what an ordinary server has to say
    private string[] _labels = [];
    private string _name = "";

    /// <summary>Begins a metric; its samples follow.</summary>
    internal void Begin(MetricDeclaration declared)
    {
        _name = declared.Name;
        _labels = declared.Labels.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        _text.Append("# HELP ").Append(declared.Family).Append(' ').Append(declared.Help).Append('\n');
        _text.Append("# TYPE ").Append(declared.Family).Append(' ').Append(declared.Kind.ToString().ToLowerInvariant()).Append('\n');
        if (declared.Unit.Length > 0)
            _text.Append("# UNIT ").Append(declared.Family).Append(' ').Append(declared.Unit).Append('\n');
    }

    /// <summary>A sample of the metric that has begun.</summary>
    internal void Sample(double value, params ReadOnlySpan<string> labels) => Sample("", value, labels, "");

    /// <summary>One of a histogram: how often it was below the bound, or at all.</summary>
    internal void Bucket(string bound, long count, params ReadOnlySpan<string> labels) => Sample("_bucket", count, labels, bound);

    /// <summary>The end of a histogram: how often it was, and the sum.</summary>
    internal void Sums(long count, double sum, params ReadOnlySpan<string> labels)
    {
        Sample("_count", count, labels, "");
        Sample("_sum", sum, labels, "");
    }

    /// <summary>All of it, with the line that says that nothing is missing.</summary>
    internal byte[] End() => Encoding.UTF8.GetBytes(_text.Append("# EOF\n").ToString());

    private void Sample(string suffix, double value, ReadOnlySpan<string> labels, string bound)
    {
        _text.Append(_name).Append(suffix);
        char before = '{';
        for (int i = 0; i < labels.Length; i++)
        {
            _text.Append(before).Append(_labels[i]).Append("=\"");
            Escape(labels[i]);
            _text.Append('"');
            before = ',';
        }

        if (bound.Length > 0)
            _text.Append(before).Append("le=\"").Append(bound).Append('"');
        if (labels.Length > 0 || bound.Length > 0)
            _text.Append('}');
        _text.Append(' ').Append(value.ToString("R", CultureInfo.InvariantCulture)).Append('\n');
    }

    private void Escape(string value)
    {
        foreach (char one in value.AsSpan(0, Math.Min(value.Length, LabelCharsMax)))
        {
            if (one is '\\' or '"')
                _text.Append('\\').Append(one);
            else if (one == '\n')
                _text.Append("\\n");
            else
                _text.Append(char.IsControl(one) || char.IsSurrogate(one) ? '?' : one);
        }
    }
}
