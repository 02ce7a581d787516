namespace Garnet.Server.Telemetry;

/// <summary>Figures in the order in which they are declared.</summary>
internal sealed class FigureList
{
    private readonly List<Figure> _all = [];

    internal IReadOnlyList<Figure> All => _all;

    internal Figure Gauge(string field, string metric, string help, Func<Moment, long> read) =>
        Add(field, metric, MetricKind.Gauge, help, read);

    internal Figure Counter(string field, string metric, string help, Func<Moment, long> read) =>
        Add(field, metric, MetricKind.Counter, help, read);

    /// <summary>Microseconds in INFO, or milliseconds, that are seconds in the metric.</summary>
    internal Figure Seconds(string field, string metric, string help, long perSecond, Func<Moment, long> read)
    {
        MetricKind kind = metric.EndsWith("_total", StringComparison.Ordinal) ? MetricKind.Counter : MetricKind.Gauge;
        Figure figure = new(field, new MetricDeclaration(metric, kind, "", help, field), read) { Scale = 1.0 / perSecond };
        _all.Add(figure);
        return figure;
    }

    private Figure Add(string field, string metric, MetricKind kind, string help, Func<Moment, long> read)
    {
        var figure = new Figure(field, new MetricDeclaration(metric, kind, "", help, field), read);
        _all.Add(figure);
        return figure;
    }
}
