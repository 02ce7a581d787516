using Garnet.Common.Linux;

namespace Garnet.Common.Test.Linux;

public sealed class FilePlaceTests
{
    private string _folder = "";

    [SetUp]
    public void SetUp() => _folder = Directory.CreateTempSubdirectory("garnet-place").FullName;

    [TearDown]
    public void TearDown() => Directory.Delete(_folder, recursive: true);

    [Test]
    public void A_file_takes_the_place_of_another_or_a_new_one()
    {
        string name = Path.Combine(_folder, "name"), next = Path.Combine(_folder, "next");
        foreach (string text in (string[])["one", "two"])
        {
            File.WriteAllText(next, text);
            FilePlace.Take(next, name);
            Assert.That((File.ReadAllText(name), File.Exists(next)), Is.EqualTo((text, false)));
        }
    }

    [Test]
    public void A_directory_is_synced_or_it_is_told_why_not()
    {
        const int NoSuchFile = 2, NoDirectory = 20;
        if (!OperatingSystem.IsLinux()) Assert.Ignore("there is no portable call");
        string file = Path.Combine(_folder, "file");
        File.WriteAllText(file, "");
        Assert.That(FilePlace.SyncDirectory(_folder), Is.Zero);
        Assert.That(FilePlace.SyncDirectory(Path.Combine(_folder, "none")), Is.EqualTo(NoSuchFile));
        Assert.That(FilePlace.SyncDirectory(file), Is.EqualTo(NoDirectory));
    }
}
