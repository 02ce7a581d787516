using System.Runtime.CompilerServices;
using NUnit.Framework;

namespace Garnet.Server.Test;

/// <summary>Waits for what must come about; what has not within a minute is a failure, not a test without an end.</summary>
internal static class Eventually
{
    private const int PatienceMs = 60_000;

    internal static void Holds(Func<bool> condition, [CallerArgumentExpression(nameof(condition))] string what = "") =>
        Assert.That(SpinWait.SpinUntil(condition, PatienceMs), Is.True, "in vain: " + what);
}
