namespace Tsavorite.Test.PlantedBugs;

/// <summary>A fault and the test that must see it.</summary>
internal sealed record PlantedBug(PlantedFault Fault, Action Detect)
{
    public override string ToString() => Fault.ToString();
}
