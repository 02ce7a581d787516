namespace Garnet.Server.Rights;

/// <summary>How often somebody was refused for a reason, as INFO and /metrics have it.</summary>
/// <param name="Word">What stands for the reason in their names.</param>
/// <param name="Help">What is counted, as a sentence.</param>
internal sealed record DenialFigure(string Word, string Help)
{
    /// <summary>The field of INFO.</summary>
    internal string Field => "acl_access_denied_" + Word;

    /// <summary>The metric.</summary>
    internal string Metric => $"redis_{Field}_total";
}
