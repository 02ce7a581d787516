namespace Garnet.Server.Telemetry;

/// <summary>What there is to know of a metric without its numbers: a row of the reference page.</summary>
/// <param name="Name">As a sample has it: that of a counter ends with <c>_total</c>.</param>
/// <param name="Kind">Its type.</param>
/// <param name="Labels">By what there are several numbers, with blanks between; empty for one number.</param>
/// <param name="Help">A sentence.</param>
/// <param name="Source">The field of INFO with the same figure; empty if there is none.</param>
public sealed record MetricDeclaration(string Name, MetricKind Kind, string Labels, string Help, string Source)
{
    private const string Total = "_total";

    /// <summary>The name of the family: that of a counter without its ending.</summary>
    public string Family { get; } = FamilyOf(Name, Kind);

    /// <summary>The unit, which the family's name ends with; empty for plain numbers.</summary>
    public string Unit { get; } = UnitOf(FamilyOf(Name, Kind));

    /// <summary>The type as it is written.</summary>
    public string Type { get; } = Kind.ToString().ToLowerInvariant();

    /// <summary>The names of the labels.</summary>
    internal string[] LabelNames { get; } = Labels.Split(' ', StringSplitOptions.RemoveEmptyEntries);

    private static string FamilyOf(string name, MetricKind kind) => kind == MetricKind.Counter ? name[..^Total.Length] : name;

    private static string UnitOf(string family)
    {
        string unit = family[(family.LastIndexOf('_') + 1)..];
        return unit is "seconds" or "bytes" or "usec" ? unit : "";
    }
}
