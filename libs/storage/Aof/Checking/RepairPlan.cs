namespace Garnet.Aof;

/// <summary>What a repair would do, step by step; <see cref="DirectoryRepair.Apply"/> does it.</summary>
public sealed class RepairPlan
{
    internal RepairPlan(IReadOnlyList<string> lines, IReadOnlyList<Action> steps, string? hopeless)
    {
        Lines = lines;
        Steps = steps;
        Hopeless = hopeless;
    }

    /// <summary>The steps as text, a line each; empty if nothing needs repair.</summary>
    public IReadOnlyList<string> Lines { get; }
    /// <summary>What would be lost, as far as what is left says it, in words that go before "would be lost"; empty if nothing needs repair.</summary>
    public string Price { get; init; } = "";
    /// <summary>As <see cref="CheckReport.Remark"/>.</summary>
    public string Remark { get; init; } = "";
    /// <summary>Why nothing can be done; null if something can, or need not.</summary>
    public string? Hopeless { get; }
    internal IReadOnlyList<Action> Steps { get; }
}
