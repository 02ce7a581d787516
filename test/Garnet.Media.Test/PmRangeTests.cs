using Garnet.Common;
using NUnit.Framework;

namespace Garnet.Media.Test;

/// <summary>A file mapped as persistent memory would be. No machine of ours has any: here it is a plain file, and what is said of it must say so.</summary>
internal sealed class PmRangeTests
{
    private const int Page = PmRange.PageBytes, Line = IPmRange.LineBytes;
    private string _directory = "", _path = "";

    [SetUp]
    public void MakeFile()
    {
        if (!OperatingSystem.IsLinux()) Assert.Ignore("mapped files of this kind are Linux's");
        _directory = Directory.CreateTempSubdirectory("garnet-pm-").FullName;
        _path = Path.Combine(_directory, "range");
        File.WriteAllBytes(_path, new byte[4 * Page]);
    }

    [TearDown]
    public void DeleteDirectory()
    {
        if (_directory.Length > 0) Directory.Delete(_directory, recursive: true);
    }

    [Test]
    public void What_is_written_and_fenced_stands_in_the_file()
    {
        byte[] lines = new byte[3 * Line];
        new Random(1).NextBytes(lines);
        using (PmRange range = PmRange.Open(_path))
        {
            range.Write(Page + Line, lines);
            Assert.That(range.Fence(), Is.Zero);
            Assert.That(range.At(Page + Line, lines.Length).SequenceEqual(lines));
        }
        Assert.That(File.ReadAllBytes(_path).AsSpan(Page + Line, lines.Length).SequenceEqual(lines));
        using PmRange again = PmRange.Open(_path);
        Assert.That(again.At(Page + Line, lines.Length).SequenceEqual(lines));
        Assert.That(again.At(0, Page).ContainsAnyExcept((byte)0), Is.False);
    }

    [Test]
    public void A_plain_file_claims_nothing()
    {
        using PmRange range = PmRange.Open(_path);
        if (range.IsSynchronous) Assert.Ignore("the directory of temporary files lies in persistent memory");
        Assert.That(range.Domain, Is.EqualTo(PersistenceDomain.PmEmulated));
        Assert.That(PersistenceDomains.NameOf(range.Domain), Is.EqualTo("pm:emulated"));
        Assert.That(range.Domain.IsRealPm(), Is.False);
    }

    [TestCase("memory_controller\n", PersistenceDomain.PmAdr)]
    [TestCase("cpu_cache\n", PersistenceDomain.PmEadr)]
    [TestCase("unknown\n", PersistenceDomain.PmEmulated)]
    [TestCase(null, PersistenceDomain.PmEmulated)]
    public void The_domain_is_what_the_devices_region_says(string? said, PersistenceDomain expected)
    {
        string region = Path.Combine(_directory, "sys", "devices", "ndbus0", "region0"), block = Path.Combine(region, "namespace0.0", "block", "pmem0");
        string links = Path.Combine(_directory, "sys", "dev", "block");
        Directory.CreateDirectory(block);
        Directory.CreateDirectory(links);
        Directory.CreateSymbolicLink(Path.Combine(links, "259:0"), block);
        if (said is not null) File.WriteAllText(Path.Combine(region, "persistence_domain"), said);
        Assert.That(PmPlatform.DomainOf(259, 0, Path.Combine(_directory, "sys")), Is.EqualTo(expected));
        Assert.That(PmPlatform.DomainOf(8, 1, Path.Combine(_directory, "sys")), Is.EqualTo(PersistenceDomain.PmEmulated), "a device of which nothing is said");
    }

    [Test]
    public void Two_servers_do_not_share_one()
    {
        using PmRange range = PmRange.Open(_path);
        Assert.That(Refusal(_path), Does.Contain("another server has it in use").And.Contain("a file of its own"));
    }

    [Test]
    public void What_cannot_serve_is_refused_with_what_to_do()
    {
        Assert.That(Refusal(Path.Combine(_directory, "nowhere")), Does.Contain("not there").And.Contain("fallocate -l"));
        Assert.That(Refusal(_directory), Does.Contain("aof-pm-path cannot be used"));
        Assert.That(Refusal(_path, 5 * Page), Does.Contain("are the least").And.Contain($"fallocate -l {5 * Page}"));
        File.WriteAllBytes(_path, new byte[(4 * Page) + 100]);
        Assert.That(Refusal(_path), Does.Contain("no multiple of 4096"));
        string link = Path.Combine(_directory, "link");
        File.CreateSymbolicLink(link, _path);
        Assert.That(Refusal(link), Does.Contain("aof-pm-path cannot be used"));
    }

    [Test]
    public void What_may_not_be_written_to_is_refused()
    {
        if (Environment.IsPrivilegedProcess) Assert.Ignore("nothing is forbidden to root");
        if (!OperatingSystem.IsWindows()) File.SetUnixFileMode(_path, UnixFileMode.UserRead);
        Assert.That(Refusal(_path), Does.Contain("may not write"));
    }

    [Test]
    public void A_file_in_memory_says_so()
    {
        if (!Directory.Exists("/dev/shm")) Assert.Ignore("there is no tmpfs");
        string path = Path.Combine("/dev/shm", $"garnet-pm-{Guid.NewGuid():N}");
        try
        {
            File.WriteAllBytes(path, new byte[Page]);
            using PmRange range = PmRange.Open(path);
            Assert.That(range.IsMemory);
            Assert.That(range.Domain, Is.EqualTo(PersistenceDomain.PmEmulated));
        }
        finally
        {
            File.Delete(path);
        }
    }

    private static string Refusal(string path, long bytesMin = Page) =>
        Assert.Throws<GarnetException>(() => PmRange.Open(path, bytesMin).Dispose())!.Message;
}
