using Garnet.Common.Linux;
using NUnit.Framework;

namespace Garnet.Common.Test.Linux;

[TestFixture]
internal sealed class KernelFileTests
{
    [TestCase("12\n", 0, 12)]
    [TestCase("12 345 6\n", 1, 345)]
    [TestCase("12 345 6\n", 2, 6)]
    [TestCase("12 345", 1, 345)]
    public void A_number_is_found_by_its_place(string line, int place, long wanted) => With(line, file =>
    {
        Assert.That(file.TryNumber(place, out long number), Is.True);
        Assert.That(number, Is.EqualTo(wanted));
    });

    [TestCase("max\n", 0)]
    [TestCase("12 x\n", 1)]
    [TestCase("12 3x\n", 1)]
    [TestCase("12\n", 1)]
    [TestCase("", 0)]
    [TestCase("99999999999999999999\n", 0)]
    public void What_is_no_number_is_none(string line, int place) => With(line, file => Assert.That(file.TryNumber(place, out _), Is.False));

    [Test]
    public void A_file_that_is_not_there_has_no_number() => Assert.That(new KernelFile("/nosuch/file").TryNumber(0, out _), Is.False);

    [Test]
    public void A_file_is_read_anew_each_time()
    {
        string path = Path.GetTempFileName();
        File.WriteAllText(path, "1\n");
        var file = new KernelFile(path);
        Assert.That(file.TryNumber(0, out long first) && first == 1);
        File.WriteAllText(path, "23\n");
        Assert.That(file.TryNumber(0, out long second) && second == 23);
        File.Delete(path);
    }

    [TestCase(0)]
    [TestCase(1)]
    [TestCase(4096)]
    [TestCase(4097)]
    [TestCase(100_000)]
    public void All_of_a_file_is_read_however_long_it_is(int length)
    {
        string text = new string('x', length), path = Path.GetTempFileName();
        File.WriteAllText(path, text);
        Assert.That(KernelFile.TextOf(path), Is.EqualTo(text));
        File.Delete(path);
        Assert.That(KernelFile.TextOf(path), Is.Empty, "without it");
    }

    [Test]
    public void What_the_kernel_says_has_no_size_before_it_is_read()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("there is no such file elsewhere");
        Assert.That(KernelFile.TextOf("/proc/self/cgroup"), Is.EqualTo(File.ReadAllText("/proc/self/cgroup")));
        Assert.That(KernelFile.TextOf("/proc/meminfo"), Does.StartWith("MemTotal:"));
    }

    [Test]
    public void What_this_process_has_in_memory_is_told_as_the_runtime_tells_it()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("there is no such file elsewhere");
        Assert.That(new KernelFile("/proc/self/statm").TryNumber(1, out long pages));
        Assert.That(pages * Environment.SystemPageSize / (double)Environment.WorkingSet, Is.InRange(0.5, 2));
    }

    private static void With(string line, Action<KernelFile> check)
    {
        string path = Path.GetTempFileName();
        File.WriteAllText(path, line);
        check(new KernelFile(path));
        File.Delete(path);
    }
}
