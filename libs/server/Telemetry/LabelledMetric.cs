namespace Garnet.Server.Telemetry;

/// <summary>A metric with several numbers, told apart by labels. What has never happened has no sample: a scrape is as long as what the server does is varied.</summary>
/// <param name="Declared">What it is.</param>
/// <param name="Write">Writes its samples: the number, and the values of the labels in their order.</param>
internal sealed record LabelledMetric(MetricDeclaration Declared, Action<Moment, MetricText> Write)
{
    internal static LabelledMetric Gauge(string name, string labels, string help, Action<Moment, MetricText> write) =>
        new(new MetricDeclaration(name, MetricKind.Gauge, labels, help, ""), write);

    internal static LabelledMetric Counter(string name, string labels, string help, Action<Moment, MetricText> write) =>
        new(new MetricDeclaration(name, MetricKind.Counter, labels, help, ""), write);
}
