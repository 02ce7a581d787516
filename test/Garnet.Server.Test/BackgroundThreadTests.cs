using Garnet.Aof;
using Garnet.Aof.Disk;
using Garnet.Aof.Snapshots;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;
using Garnet.Common;
using Garnet.Common.Faults;
using Garnet.Server.Base;
using Garnet.Server.Test.Persistence;

namespace Garnet.Server.Test;

/// <summary>What the environment does to a thread of the server ends it in order, with a reason, or only what was asked for; never the process at once.</summary>
internal sealed class BackgroundThreadTests
{
    private static readonly Exception[] Failures =
    [
        new InsufficientMemoryException("of the heap"), new TooLargeException("a value", 5, 4), new IOException("the device is gone"), new SnapshotFileException("x.snap", 7, "it ends"),
        new DiskException("read", "x", "Input/output error", false), new UnauthorizedAccessException("not yours"),
    ];

    [TestCaseSource(nameof(Failures))]
    public void A_failure_of_the_environment_is_told_with_the_thread_and_the_reason(Exception failure)
    {
        GarnetException? told = null;
        BackgroundThread.Begin("some work", () => throw failure, e => told = e).Await();
        Assert.That(told!.Message, Does.Contain("some work").And.Contain(failure is OutOfMemoryException ? "no memory" : failure.Message.TrimEnd('.')));
    }

    [Test]
    public void A_mistake_of_ours_is_none_of_the_environment() =>
        Assert.That(new Exception[] { new InvalidOperationException(), new ArgumentException("x"), new KeyNotFoundException() }.Where(BackgroundThread.IsOfEnvironment), Is.Empty);

    [TestCaseSource(nameof(Failures))]
    public void A_snapshot_for_which_something_lacks_fails_and_the_server_goes_on(Exception failure)
    {
        var disk = new FailingFiles(new MemoryDisk(), failure, static name => name.EndsWith(".snap.tmp", StringComparison.Ordinal));
        using var server = new EmbeddedServer(directory: DataDirectory.OpenUnlocked(disk));
        server.Server.Loaded.Await();
        disk.Arm();
        Assert.That(server.Send("SET k v\r\n", "+OK\r\n"), Is.EqualTo("+OK\r\n"));
        Assert.That(server.Send("SAVE\r\n", "\r\n"), Does.StartWith("-ERR"));
        Assert.That(server.Send("GET k\r\n", "v\r\n"), Is.EqualTo("$1\r\nv\r\n"));
    }

    [TestCaseSource(nameof(Failures))]
    public void A_start_for_which_something_lacks_ends_in_order_and_says_why_before_it_has_stopped(Exception failure)
    {
        var inner = new MemoryDisk();
        using (var first = new EmbeddedServer(directory: DataDirectory.OpenUnlocked(inner)))
        {
            first.Server.Loaded.Await();
            first.Send("SET k v\r\nSAVE\r\n", "+OK\r\n+OK\r\n");
        }

        var disk = new FailingFiles(inner, failure, static name => name.EndsWith(".snap", StringComparison.Ordinal));
        var lines = new RecordedLines();
        using var server = new EmbeddedServer(directory: DataDirectory.OpenUnlocked(disk), lines: lines);
        disk.Arm();
        GarnetException told = Assert.ThrowsAsync<GarnetException>(() => server.Server.Completion.WaitAsync(TimeSpan.FromSeconds(30)))!;
        Assert.That(lines.All[^2..], Is.EqualTo(new[] { "Critical " + told.Message, "Information Stopped" }));
    }
}
