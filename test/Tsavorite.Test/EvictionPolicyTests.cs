using NUnit.Framework;

namespace Tsavorite.Test;

internal sealed class EvictionPolicyTests
{
    [Test]
    public void Every_policy_has_a_row() =>
        Assert.That(Enum.GetValues<EvictionPolicy>().Select(EvictionPolicies.Rule), Has.All.Not.Null);
}
