namespace Garnet.Server.Telemetry;

/// <summary>One number about the server, declared once: INFO shows it under its field, /metrics under its name.</summary>
/// <param name="Field">The field of INFO.</param>
/// <param name="Declared">The metric.</param>
/// <param name="Read">The number of a moment, in the unit of INFO.</param>
internal sealed record Figure(string Field, MetricDeclaration Declared, Func<Moment, long> Read)
{
    /// <summary>What the number is multiplied by to be in the metric's unit.</summary>
    internal double Scale { get; init; } = 1;
}
