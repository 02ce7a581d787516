using Garnet.Aof.Disk;
using Garnet.Aof.Format;
using Garnet.Aof.Snapshots;
using Garnet.Common;
using NUnit.Framework;

namespace Garnet.Aof.Test.Reading;

/// <summary>
/// Every kind of file of a data directory, removed, emptied, cut short, taken from another server's directory, or an older copy of itself:
/// either nothing is missing after a start, or the start is refused by the file's name, so does a check, nothing on disk has changed, and
/// with the file put back all is there. What is acknowledged is never quietly gone.
/// </summary>
internal sealed class MissingFileTests
{
    private static readonly string[] Kinds = ["manifest", "log", "earlier log", "tail", "snapshot", "previous snapshot", "orphan", "unfinished"];
    private static readonly string[] Harms = ["removed", "emptied", "shortened", "another server's", "older"];
    // What is there a second time, or is never read; the way back for a snapshot is the one before it and more of the log.
    private static readonly HashSet<string> Spare = ["orphan", "unfinished", "snapshot", "previous snapshot"];

    private readonly Dictionary<(SyncPolicy, bool), (IReadOnlyList<DirectoryImage> Own, DirectoryImage Other)> _lives = [];
    private string _path = "";

    [SetUp]
    public void MakePlace() => _path = Directory.CreateTempSubdirectory("garnet-missing-").FullName;

    [TearDown]
    public void RemovePlace() => Directory.Delete(_path, true);

    [Test]
    public void No_file_is_missing_quietly([ValueSource(nameof(Kinds))] string kind, [ValueSource(nameof(Harms))] string harm,
        [Values(SyncPolicy.EverySecond, SyncPolicy.Always)] SyncPolicy sync, [Values] bool stopped)
    {
        (IReadOnlyList<DirectoryImage> own, DirectoryImage other) = Lives(sync, stopped);
        var files = new Dictionary<string, byte[]>(own[^1].Files)
        {
            ["000001-batches-3-5.orphan"] = new byte[5000], ["snapshot-00000000000000000777.snap.tmp"] = new byte[5000],
        };
        if (NameOf(files, kind) is not { } name)
        {
            Assert.That(kind, Is.EqualTo("tail"));
            return; // there is none under this policy, on this file system, or after a stop in order
        }
        var harmed = new Dictionary<string, byte[]>(files);
        if (!Harm(harmed, name, kind, harm, own, other)) return; // it has not changed since
        DirectoryImage.Write(harmed, _path);
        string? refused = Refusal(out string state);
        TestContext.Out.WriteLine(refused ?? "all is there");
        if (refused is null)
        {
            // Of a server that was killed nothing says how much it had written to the one file that was written last: a copy of that from before
            // is what a kill at that time would have left. website/docs/format/aof.md says so.
            bool isUntold = harm == "older" && !stopped && (sync == SyncPolicy.Always ? kind == "log" : kind == "tail");
            if (!isUntold) Assert.That(state, Is.EqualTo(own[^1].State), "what was acknowledged is quietly gone");
            Assert.That(Spare.Contains(kind) || kind == "manifest" || isUntold || (kind == "tail" && stopped), $"{kind} {harm} cost nothing");
            return;
        }
        Assert.That(refused, Does.Contain(name).Or.Contain("manifest"), "the file is named");
        Assert.That(Spare.Contains(kind), Is.False, refused);
        Assert.That(IsSound(), Is.False, "a check says so as well");
        RepairPlan plan = DirectoryRepair.Plan(new FileDisk(_path), SnapshotFiles.Instance, TestStore.Progress());
        TestContext.Out.WriteLine($"{plan.Price} would be lost");
        if (kind != "manifest") Assert.That(plan.Price, Is.Not.Empty.And.Not.EqualTo("Nothing"), "what is missing is no longer there");
        AssertUnchanged(harmed);
        File.WriteAllBytes(Path.Combine(_path, name), files[name]);
        if (harm == "another server's") DirectoryImage.Write(files, _path);
        Assert.That(Refusal(out state), Is.Null, "the file was put back");
        Assert.That(state, Is.EqualTo(own[^1].State));
    }

    private (IReadOnlyList<DirectoryImage> Own, DirectoryImage Other) Lives(SyncPolicy sync, bool stopped)
    {
        if (_lives.TryGetValue((sync, stopped), out (IReadOnlyList<DirectoryImage>, DirectoryImage) known)) return known;
        IReadOnlyList<DirectoryImage>[] both = [.. new[] { 1, 2 }.Select(seed =>
        {
            string path = Directory.CreateTempSubdirectory("garnet-life-").FullName;
            try
            {
                return DirectoryImage.Live(path, seed, sync, stopped);
            }
            finally
            {
                Directory.Delete(path, true);
            }
        })];
        return _lives[(sync, stopped)] = (both[0], both[1][^1]);
    }

    private static string? NameOf(IReadOnlyDictionary<string, byte[]> files, string kind)
    {
        string[] logs = [.. files.Keys.Where(static name => LogFileName.TryParse(name, out _, out _)).Order(StringComparer.Ordinal)];
        string[] snapshots = [.. files.Keys.Where(static name => SnapshotFileName.TryParse(name, out _)).Order(StringComparer.Ordinal)];
        Assert.That((logs.Length, snapshots.Length), Is.EqualTo((Math.Max(logs.Length, 3), 2)));
        return kind switch
        {
            "manifest" => Manifest.FileName,
            "log" => logs[^1],
            "earlier log" => logs[^2],
            "tail" => files.Keys.SingleOrDefault(name => name == logs[^1] + ".tail"),
            "snapshot" => snapshots[^1],
            "previous snapshot" => snapshots[0],
            "orphan" => files.Keys.Single(static name => name.EndsWith(".orphan", StringComparison.Ordinal)),
            _ => files.Keys.Single(static name => name.EndsWith(".tmp", StringComparison.Ordinal)),
        };
    }

    private static bool Harm(Dictionary<string, byte[]> files, string name, string kind, string harm, IReadOnlyList<DirectoryImage> own, DirectoryImage other)
    {
        switch (harm)
        {
            case "removed":
                files.Remove(name);
                return true;
            case "emptied":
                files[name] = [];
                return true;
            case "shortened":
                files[name] = files[name][..(files[name].Length * 2 / 3)];
                return true;
            case "another server's":
                if (kind is "orphan" or "unfinished") return false;
                files[name] = other.Files[NameOf(other.Files, kind)!];
                return true;
            default:
                byte[]? older = own.Reverse().Select(image => image.Files.GetValueOrDefault(name)).FirstOrDefault(bytes => bytes != null && !bytes.SequenceEqual(files[name]));
                if (older is null) return false;
                files[name] = older;
                return true;
        }
    }

    private string? Refusal(out string state)
    {
        using var store = new TestStore();
        state = "";
        try
        {
            using DataDirectory directory = DataDirectory.OpenUnlocked(new FileDisk(_path));
            directory.Recover(store.Store, store.Table, new RecoverySettings { Threads = 1 }, SnapshotFiles.Instance, TestStore.Progress());
            state = store.Text();
            return null;
        }
        catch (GarnetException e)
        {
            Assert.That(e.Kind, Is.EqualTo(ExitKind.Data));
            return e.Message;
        }
    }

    private bool IsSound()
    {
        var disk = new FileDisk(_path);
        ((IDisk)disk).Complete();
        return DirectoryCheck.Run(disk, SnapshotFiles.Instance, TestStore.Progress()).IsSound;
    }

    // But for what was being written, which a start removes.
    private void AssertUnchanged(Dictionary<string, byte[]> before)
    {
        foreach ((string name, byte[] bytes) in before)
        {
            if (name.EndsWith(".tmp", StringComparison.Ordinal)) continue;
            if (name.EndsWith(".tail", StringComparison.Ordinal) && !File.Exists(Path.Combine(_path, name))) continue;
            byte[] now = File.ReadAllBytes(Path.Combine(_path, name));
            if (!LogFileName.TryParse(name, out _, out _)) Assert.That(now.AsSpan().SequenceEqual(bytes), name); // an element at a time takes half a second for a file
            else Assert.That(now, Has.Length.EqualTo(bytes.Length), name);
        }
    }
}
