using NUnit.Framework;

namespace Tsavorite.Test.PlantedBugs;

/// <summary>The negative control of the suite: with a bug planted, the test that guards against it fails.</summary>
internal sealed class PlantedBugTests
{
    private static IEnumerable<PlantedFault> Faults() => Enum.GetValues<PlantedFault>().Where(fault => fault != PlantedFault.None);

    [TestCaseSource(nameof(Faults))]
    public void A_planted_bug_is_seen(PlantedFault fault)
    {
        bool seen = PlantedBugProcess.Sees(fault, out string said);
        TestContext.Out.WriteLine(said.Length > 2000 ? said[..2000] : said);
        Assert.That(seen, Is.True, said);
    }

    [Test]
    public void Without_a_bug_every_detecting_test_passes()
    {
        PlantedBugProcess.Sees(PlantedFault.None, out string said);
        Assert.That(said, Does.StartWith("exit 0:"));
    }

    [Test]
    public void Every_fault_stands_in_the_list_once() =>
        Assert.That(PlantedBugList.All.Select(bug => bug.Fault), Is.EquivalentTo(Enum.GetValues<PlantedFault>()));
}
