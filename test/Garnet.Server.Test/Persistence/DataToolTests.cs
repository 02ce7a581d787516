using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;
using Garnet.Common;
using Garnet.Common.Time;

namespace Garnet.Server.Test.Persistence;

/// <summary>What <c>garnet-server check</c> and <c>repair</c> say of a directory.</summary>
public sealed class DataToolTests
{
    private readonly List<string> _said = [];
    private string _path = "";

    [SetUp]
    public void SetUp()
    {
        _said.Clear();
        _path = Directory.CreateTempSubdirectory("garnet").FullName;
    }

    [TearDown]
    public void TearDown() => Directory.Delete(_path, recursive: true);

    [Test]
    public void A_directory_without_data_is_none_and_gets_no_file([Values] bool foreign, [Values] bool repair)
    {
        if (foreign) File.WriteAllText(Path.Combine(_path, "notes.txt"), "mine");
        string[] before = Directory.GetFiles(_path);
        GarnetException refused = Assert.Throws<GarnetException>(() => _ = repair ? DataTool.Repair(_path, apply: true, _said.Add, _said.Add) : DataTool.Check(_path, _said.Add, _said.Add))!;
        Assert.That(refused.Message, Does.StartWith($"{_path} is no data directory"));
        Assert.That(Directory.GetFiles(_path), Is.EqualTo(before));
    }

    [Test]
    public void A_file_is_not_said_to_be_missing()
    {
        string path = Path.Combine(_path, "file");
        File.WriteAllText(path, "");
        GarnetException refused = Assert.Throws<GarnetException>(() => DataTool.Check(path, _said.Add, _said.Add))!;
        Assert.That(refused.Why, Is.EqualTo("it is a file, not a directory"));
    }

    [Test]
    public void Where_another_name_was_set_for_the_directory_it_is_said_which_to_name()
    {
        MakeOne();
        Directory.Move(Path.Combine(_path, "appendonlydir"), Path.Combine(_path, "foo"));
        GarnetException refused = Assert.Throws<GarnetException>(() => DataTool.Check(_path, _said.Add, _said.Add))!;
        Assert.That(refused.Next, Does.EndWith("where appenddirname is set, that directory in it"));
        Assert.That(DataTool.Check(Path.Combine(_path, "foo"), _said.Add, _said.Add), Is.Zero);
    }

    [Test]
    public void A_repair_names_the_real_directory_what_to_do_first_and_what_it_kept()
    {
        MakeOne();
        string manifest = Path.Combine(_path, "appendonlydir", "manifest");
        byte[] bytes = File.ReadAllBytes(manifest);
        bytes[20] ^= 1;
        File.WriteAllBytes(manifest, bytes);
        Assert.That(DataTool.Check(_path, _said.Add, _said.Add), Is.EqualTo((int)ExitKind.Data));
        Assert.That(_said[^1], Does.Contain($"garnet-server repair {_path} proposes"));
        Assert.That(DataTool.Repair(_path, apply: false, _said.Add, _said.Add), Is.EqualTo((int)ExitKind.Data));
        Assert.That(_said, Has.Some.EqualTo("Nothing that the other files tell of would be lost."));
        Assert.That(_said[^1], Does.Contain("put it back first").And.Contain($"garnet-server repair {_path} --apply"));
        Assert.That(DataTool.Repair(_path, apply: true, _said.Add, _said.Add), Is.Zero);
        Assert.That(_said[^1], Does.StartWith("Done and checked, up to batch ").And.Contain("damaged-1-manifest"));
    }

    [Test]
    public void A_damaged_snapshot_is_named_once_in_its_line()
    {
        MakeOne("SAVE\r\n");
        string snapshot = Directory.GetFiles(Path.Combine(_path, "appendonlydir"), "*.snap").Single();
        byte[] bytes = File.ReadAllBytes(snapshot);
        bytes[4096] ^= 1;
        File.WriteAllBytes(snapshot, bytes);
        Assert.That(DataTool.Check(_path, _said.Add, _said.Add), Is.EqualTo((int)ExitKind.Data));
        string name = Path.GetFileName(snapshot);
        Assert.That(_said.Single(static line => line.StartsWith("DAMAGED", StringComparison.Ordinal)), Does.Match($"^DAMAGED  {name}: offset \\d+: (?!.*{name})"));
    }

    [Test]
    public void What_only_the_way_back_needs_is_no_damage_to_either([Values] bool removed)
    {
        MakeOne("SAVE\r\n");
        MakeOne("SAVE\r\n");
        string log = Directory.GetFiles(Path.Combine(_path, "appendonlydir"), "*.log").Min(StringComparer.Ordinal)!;
        Assert.That(Directory.GetFiles(Path.Combine(_path, "appendonlydir"), "*.log"), Has.Length.GreaterThan(1));
        byte[] bytes = File.ReadAllBytes(log);
        bytes[4096 + 50] ^= 1;
        if (removed) File.Delete(log);
        else File.WriteAllBytes(log, bytes);
        Assert.That(DataTool.Check(_path, _said.Add, _said.Add), Is.Zero, string.Join('\n', _said));
        Assert.That(_said[^2], Does.Contain("A start does not need that part; take a snapshot (BGSAVE)"));
        Assert.That(_said[^1], Is.EqualTo("The directory is sound."));
        Assert.That(DataTool.Repair(_path, apply: true, _said.Add, _said.Add), Is.Zero);
        Assert.That(_said[^2], Does.Contain("take a snapshot (BGSAVE)"));
        Assert.That(_said[^1], Is.EqualTo("There is nothing to repair."));
        MakeOne("SAVE\r\n");
        MakeOne("SAVE\r\n");
        _said.Clear();
        Assert.That(DataTool.Check(_path, _said.Add, _said.Add), Is.Zero);
        Assert.That(_said, Has.None.Contains("BGSAVE"), "there is a way back again");
    }

    [Test]
    public void How_far_a_check_is_says_that_the_log_is_judged()
    {
        MakeOne("SAVE\r\n");
        MakeOne();
        var progress = new JobProgress("reading", new ManualClock());
        Assert.That(DataTool.Judge(new FileDisk(Path.Combine(_path, "appendonlydir")), progress), Is.Empty);
        Assert.That(progress.Kind, Is.EqualTo("judging the log"));
        Assert.That(progress.DoneBytes, Is.GreaterThan(0).And.LessThanOrEqualTo(progress.TotalBytes));
    }

    [Test]
    public void A_sound_snapshot_alone_says_what_the_directory_was([Values] bool damaged)
    {
        MakeOne("SAVE\r\n");
        string directory = Path.Combine(_path, "appendonlydir"), manifest = Path.Combine(directory, "manifest");
        foreach (string log in Directory.GetFiles(directory, "aof-*")) File.Delete(log);
        byte[] bytes = File.ReadAllBytes(manifest);
        bytes[^5] ^= 1;
        if (damaged) File.WriteAllBytes(manifest, bytes);
        else File.Delete(manifest);
        Assert.That(DataTool.Repair(_path, apply: true, _said.Add, _said.Add), Is.Zero, string.Join('\n', _said));
        using DataDirectory repaired = DataDirectory.Open(directory, static path => new FileDisk(path));
        using var server = new EmbeddedServer(directory: repaired);
        server.Server.Loaded.Await();
        server.Send("GET k\r\n", "$1\r\nv\r\n");
    }

    private void MakeOne(string after = "")
    {
        using DataDirectory directory = DataDirectory.Open(Path.Combine(_path, "appendonlydir"), static path => new FileDisk(path));
        using var server = new EmbeddedServer(directory: directory);
        server.Server.Loaded.Await();
        server.Send("SET k v\r\n", "+OK\r\n");
        if (after.Length > 0) server.Send(after, "+OK\r\n");
    }
}
