using System.Buffers;
using System.Globalization;
using System.Text;

namespace Garnet.Server.Telemetry;

/// <summary>
/// Metrics in the text format of OpenMetrics 1.0, into memory that the next scrape uses again. What others chose (names of replicas, codes of errors of scripts) is escaped, and cut at
/// <see cref="LabelCharsMax"/>.
/// </summary>
internal sealed class MetricText
{
    /// <summary>Characters of a label's value at most: a name of a host has no more.</summary>
    private const int LabelCharsMax = 255;

    private const int NumberBytesMax = 32; // of a double, shortest form

    private readonly ArrayBufferWriter<byte> _text = new(32 * 1024); // what an ordinary server has to say
    private MetricDeclaration _metric = null!; // whoever writes samples has begun

    /// <summary>What is left of a label's value: values of which the same is left are one, and come once.</summary>
    internal static string Shown(string value) =>
        string.Create(Math.Min(value.Length, LabelCharsMax), value, static (to, from) =>
        {
            for (int i = 0; i < to.Length; i++)
                to[i] = char.IsControl(from[i]) || char.IsSurrogate(from[i]) ? '?' : from[i];
        });

    /// <summary>Begins anew.</summary>
    internal void Clear() => _text.ResetWrittenCount();

    /// <summary>Begins a metric; its samples follow.</summary>
    internal void Begin(MetricDeclaration declared)
    {
        _metric = declared;
        Describe("# HELP ", declared.Help);
        Describe("# TYPE ", declared.Type);
        if (declared.Unit.Length > 0)
            Describe("# UNIT ", declared.Unit);
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
    internal byte[] End()
    {
        Add("# EOF\n");
        return _text.WrittenSpan.ToArray();
    }

    private void Describe(string what, string text)
    {
        Add(what);
        Add(_metric.Family);
        Add(" ");
        Add(text);
        Add("\n");
    }

    private void Sample(string suffix, double value, ReadOnlySpan<string> labels, string bound)
    {
        Add(_metric.Name);
        Add(suffix);
        for (int i = 0; i < labels.Length; i++)
        {
            Add(i == 0 ? "{" : ",");
            Add(_metric.LabelNames[i]);
            Add("=\"");
            Escape(labels[i]);
            Add("\"");
        }

        if (bound.Length > 0)
        {
            Add(labels.Length == 0 ? "{le=\"" : ",le=\"");
            Add(bound);
            Add("\"");
        }

        Add(labels.Length > 0 || bound.Length > 0 ? "} " : " ");
        value.TryFormat(_text.GetSpan(NumberBytesMax), out int written, "R", CultureInfo.InvariantCulture);
        _text.Advance(written);
        Add("\n");
    }

    private void Escape(string value)
    {
        foreach (char one in Shown(value))
        {
            if (one is '\\' or '"')
                Add(one == '"' ? "\\\"" : "\\\\");
            else
                Add(new ReadOnlySpan<char>(in one));
        }
    }

    private void Add(ReadOnlySpan<char> text) => Encoding.UTF8.GetBytes(text, _text);
}
