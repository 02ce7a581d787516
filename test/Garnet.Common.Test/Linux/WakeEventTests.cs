using Garnet.Common.Linux;
using NUnit.Framework;

namespace Garnet.Common.Test.Linux;

/// <summary>What wakes a thread writes to nothing but what it has.</summary>
internal sealed unsafe class WakeEventTests
{
    [Test]
    public void Who_waits_is_woken_once()
    {
        using var wake = new WakeEvent();
        Assert.That(IsSet(wake.Descriptor), Is.False);
        wake.Set();
        wake.Set();
        Assert.That((IsSet(wake.Descriptor), IsSet(wake.Descriptor)), Is.EqualTo((true, false)));
        wake.Set();
        wake.Reset();
        Assert.That(IsSet(wake.Descriptor), Is.False);
    }

    // A reply began with eight bytes that nobody had sent: a server that had stopped had woken its thread.
    [Test]
    public void Once_it_is_closed_it_writes_nothing_into_what_has_its_number_now()
    {
        const int OthersMax = 64;
        List<WakeEvent> others = [];
        var wake = new WakeEvent();
        int number = wake.Descriptor;
        wake.Dispose();
        try
        {
            while (others.Count < OthersMax && (others.Count == 0 || others[^1].Descriptor != number))
                others.Add(new WakeEvent());
            Assume.That(others[^1].Descriptor, Is.EqualTo(number), "a test beside this one has the number");
            wake.Set();
            Assert.That(IsSet(number), Is.False);
            wake.Dispose();
            others[^1].Set();
            Assert.That(IsSet(number), Is.True, "it is still open");
        }
        finally
        {
            others.ForEach(static other => other.Dispose());
        }
    }

    private static bool IsSet(int descriptor)
    {
        ulong count;
        return Libc.read(descriptor, &count, sizeof(ulong)) == sizeof(ulong);
    }
}
