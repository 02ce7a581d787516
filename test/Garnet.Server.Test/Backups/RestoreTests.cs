using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Common;

namespace Garnet.Server.Test.Backups;

/// <summary>What a restore refuses to write into, and what a start says of a file that it does not import.</summary>
internal sealed class RestoreTests
{
    private string _directory = "";

    private string Inner => Path.Combine(_directory, "appendonlydir");

    private string Import => Path.Combine(_directory, "dump.rdb");

    [SetUp]
    public void MakeDirectory() => _directory = Directory.CreateTempSubdirectory("garnet-restore").FullName;

    [TearDown]
    public void RemoveDirectory() => Directory.Delete(_directory, recursive: true);

    [TestCase("dump.rdb")]
    [TestCase("appendonlydir/manifest")]
    [TestCase("appendonlydir/appendonly.aof.manifest")] // of Redis
    [TestCase("prodlog/manifest")] // of a server that had another appenddirname
    [TestCase("manifest")]
    public void A_directory_with_data_is_left_alone(string there)
    {
        using BackupStage stage = new();
        stage.Take();
        string file = Path.Combine(_directory, there);
        Directory.CreateDirectory(Path.GetDirectoryName(file)!);
        File.WriteAllText(file, "x");
        Assert.That(() => Restore(stage.Newest), Throws.TypeOf<GarnetException>().With.Message.Contains("nothing can be restored there"));
        Assert.That(Directory.EnumerateFileSystemEntries(_directory, "*", SearchOption.AllDirectories).Count(File.Exists), Is.EqualTo(1));
    }

    [Test]
    public void A_directory_that_a_server_has_is_left_alone()
    {
        using BackupStage stage = new();
        stage.Take();
        MakeInner();
        using (DataDirectory.Hold(Inner))
            Assert.That(() => Restore(stage.Newest), Throws.TypeOf<GarnetException>().With.Message.Contains("is in use"));
        Assert.That(File.Exists(Import), Is.False);
        Assert.That(Restore(stage.Newest), Is.Zero, "once it has gone");
    }

    [Test]
    public void What_has_come_while_the_backup_was_read_is_not_written_over()
    {
        using BackupStage stage = new();
        stage.Take();
        Assert.That(() => Restore(stage.Newest, _ => File.WriteAllText(Import, "came meanwhile")), Throws.TypeOf<GarnetException>());
        Assert.That(File.ReadAllText(Import), Is.EqualTo("came meanwhile"));
    }

    [Test]
    public void A_start_says_of_a_file_of_another_name_that_it_is_not_imported()
    {
        File.WriteAllText(Import, "x");
        Assert.That(SaidAtAStart(static settings => settings.Persistence.ImportFile = "prod.rdb").Single(IsOfImport),
            Does.StartWith($"Warning {Import} is not imported").And.Contain("prod.rdb").And.Contain("--dbfilename dump.rdb"));
    }

    [Test]
    public void A_replica_says_that_it_imports_nothing()
    {
        File.WriteAllText(Import, "x");
        Assert.That(SaidAtAStart(static settings => settings.Replication.ReplicaOf = ["127.0.0.1", "1"]).Single(IsOfImport),
            Does.StartWith($"Warning {Import} is not imported").And.Contain("replicaof"));
    }

    [Test]
    public void A_start_with_data_of_its_own_says_that_it_imports_nothing()
    {
        Assert.That(SaidAtAStart(static _ => { }, "SET k v\r\nSAVE\r\n").Where(IsOfImport), Is.Empty);
        File.WriteAllText(Import, "x");
        Assert.That(SaidAtAStart(static _ => { }).Single(IsOfImport), Does.StartWith($"Warning {Import} is not imported").And.Contain("data of its own"));
    }

    [Test]
    public void A_start_that_imports_says_no_more_than_that()
    {
        using BackupStage stage = new();
        stage.Client.Call("SET", "k", "v");
        stage.Take();
        Assert.That(Restore(stage.Newest), Is.Zero);
        Assert.That(SaidAtAStart(static _ => { }).Single(IsOfImport), Does.StartWith($"Information Imported {Import}"));
    }

    private static bool IsOfImport(string line) => line.Contains(".rdb", StringComparison.Ordinal);

    private string[] SaidAtAStart(Action<ServerSettings> adjust, string commands = "PING\r\n")
    {
        MakeInner();
        var log = new RecordedLines();
        using (var server = new EmbeddedServer(directory: DataDirectory.Open(Inner, static path => new FileDisk(path)), lines: log, adjust: settings =>
        {
            settings.Persistence.Directory = _directory;
            adjust(settings);
        }))
        {
            Assert.That(server.Server.Loaded.Wait(60_000), Is.True);
            server.Send(commands, "\r\n");
        }

        return log.All;
    }

    private void MakeInner()
    {
        if (!OperatingSystem.IsWindows())
            Directory.CreateDirectory(Inner, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
    }

    private int Restore(string file, Action<string>? say = null) =>
        BackupTool.Restore(file, new PersistenceSettings { Directory = _directory }, "", isDryRun: false, say ?? (static _ => { }), static _ => { });
}
