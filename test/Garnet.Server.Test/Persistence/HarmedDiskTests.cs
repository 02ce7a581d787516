using System.Net.Sockets;
using Garnet.Aof;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test;

namespace Garnet.Server.Test.Persistence;

/// <summary>
/// Every kind of file that the server writes, every step with it, and a disk that is full, takes a part, fails once or always: the process
/// goes on, reads are served, writes are refused where they cannot be kept and taken again when there is space, and what was acknowledged
/// is there after a restart. Only an error of the device, and any failed sync of the log, is for ever: what the disk has then nobody knows.
/// </summary>
[Parallelizable(ParallelScope.All)] // most of each is the pause before a write is tried again
internal sealed class HarmedDiskTests
{
    private const int SegmentBytes = 64 << 10;

    // The file, the step, and whether a snapshot meets it; else the log does.
    private static readonly object[] Places =
    [
        new object[] { "log", "write", false }, new object[] { "log", "sync", false }, new object[] { "next log", "create", false }, new object[] { "next log", "write", false },
        new object[] { "next log", "sync", false }, new object[] { "manifest.tmp", "create", false }, new object[] { "manifest.tmp", "write", false },
        new object[] { "manifest.tmp", "sync", false }, new object[] { "manifest", "rename", false }, new object[] { ".snap.tmp", "create", true },
        new object[] { ".snap.tmp", "write", true }, new object[] { ".snap.tmp", "sync", true }, new object[] { ".snap", "rename", true },
        new object[] { "manifest.tmp", "create", true }, new object[] { "manifest.tmp", "write", true }, new object[] { "manifest.tmp", "sync", true },
        new object[] { "manifest", "rename", true },
    ];

    private static IEnumerable<TestCaseData> Cases() => from object[] place in Places from harm in Enum.GetValues<Harm>() select new TestCaseData(place[0], place[1], place[2], harm);

    [TestCaseSource(nameof(Cases))]
    public void Nothing_acknowledged_is_lost_and_the_process_goes_on(string file, string step, bool bySnapshot, Harm harm)
    {
        var inner = new MemoryDisk();
        string first = "";
        var disk = new HarmedDisk(inner, step, name => Concerns(file, name, first), harm);
        bool isHeldKept = false;
        using (var server = new EmbeddedServer(directory: DataDirectory.OpenUnlocked(disk), sync: AppendSync.Always, adjust: static settings => settings.Persistence.SegmentBytes = SegmentBytes))
        {
            server.Server.Loaded.Await();
            first = inner.List().Last(static name => name.EndsWith(".log", StringComparison.Ordinal));
            Assert.That(server.Send("SET before 1\r\n", "\r\n"), Is.EqualTo("+OK\r\n"));
            disk.Arm();
            if (bySnapshot) MeetBySnapshot(server, disk);
            else isHeldKept = MeetByLog(server, disk, file, IsCured(file, step, harm));
        }

        using EmbeddedServer again = KeeperTests.Start(inner);
        Assert.That(again.Send("GET before\r\n", "\r\n1\r\n"), Is.EqualTo("$1\r\n1\r\n"));
        if (isHeldKept) Assert.That(again.Send("STRLEN held\r\nGET after\r\n", "\r\n1\r\n"), Does.Match("^:[1-9][0-9]*\r\n\\$1\r\n1\r\n$"));
        if (bySnapshot) Assert.That(again.Send("GET after\r\n", "\r\n1\r\n"), Is.EqualTo("$1\r\n1\r\n"));
        Assert.That(again.Send("SET more 1\r\n", "\r\n"), Is.EqualTo("+OK\r\n"));
    }

    /// <summary>Nothing is refused for want of a key (log.K3).</summary>
    [Test]
    public void A_snapshot_is_taken_though_no_key_can_be_made([Values("create", "write", "sync", "rename")] string step, [Values] Harm harm)
    {
        var inner = new MemoryDisk();
        var disk = new HarmedDisk(inner, step, static name => name.StartsWith(DirectoryKey.FileName, StringComparison.Ordinal), harm);
        disk.Arm();
        using (var server = new EmbeddedServer(directory: DataDirectory.OpenUnlocked(disk)))
        {
            server.Server.Loaded.Await();
            Assert.That(server.Send("HSET h f v\r\nSAVE\r\n", "+OK\r\n"), Is.EqualTo(":1\r\n+OK\r\n"));
        }

        Assert.That(disk.Refused, Is.EqualTo(1));
        using EmbeddedServer again = KeeperTests.Start(inner);
        Assert.That(again.Send("HGET h f\r\n", "\r\nv\r\n"), Is.EqualTo("$1\r\nv\r\n"));
    }

    private static bool Concerns(string file, string name, string first) => file switch
    {
        "log" => name == first,
        "next log" => name != first && name.EndsWith(".log", StringComparison.Ordinal),
        _ => name.EndsWith(file, StringComparison.Ordinal),
    };

    private static bool IsCured(string file, string step, Harm harm) => harm is Harm.Full or Harm.Short && !(file.EndsWith("log", StringComparison.Ordinal) && step == "sync");

    // A snapshot that fails is an answer to whoever asked for it, and costs nobody else anything.
    private static void MeetBySnapshot(EmbeddedServer server, HarmedDisk disk)
    {
        Assert.That(server.Send("SAVE\r\n", "\r\n"), Does.StartWith("-ERR"));
        Assert.That(disk.Refused, Is.Positive);
        Assert.That(server.Send("SET after 1\r\n", "\r\n"), Is.EqualTo("+OK\r\n"));
        disk.Disarm();
        Assert.That(server.Send("SAVE\r\n", "\r\n"), Is.EqualTo("+OK\r\n"));
    }

    private static bool HasTrouble(EmbeddedServer server) =>
        server.Send("INFO persistence\r\nPING\r\n", "+PONG\r\n").Contains("garnet_aof_trouble:", StringComparison.Ordinal);

    private static bool MeetByLog(EmbeddedServer server, HarmedDisk disk, string file, bool isCured)
    {
        using TcpClient writer = server.Connect();
        string value = new('v', file == "log" ? 10 : SegmentBytes + 5000); // that one needs a file of its own
        writer.GetStream().Write(System.Text.Encoding.ASCII.GetBytes($"*3\r\n$3\r\nSET\r\n$4\r\nheld\r\n${value.Length}\r\n{value}\r\n"));
        Eventually.Holds(() => HasTrouble(server));
        Assert.That(server.Send("SET other 1\r\n", "\r\n"), Does.StartWith("-MISCONF"));
        Assert.That(server.Send("GET before\r\n", "1\r\n"), Is.EqualTo("$1\r\n1\r\n"), "reads go on");
        Assert.That(disk.Refused, Is.Positive);
        disk.Disarm();
        if (isCured)
        {
            Assert.That(EmbeddedServer.Send(writer, "", "\r\n"), Is.EqualTo("+OK\r\n"), "what waited is kept");
            Eventually.Holds(() =>
            {
                string reply = server.Send("SET after 1\r\n", "\r\n");
                Assert.That(reply, Is.EqualTo("+OK\r\n").Or.StartWith("-MISCONF"));
                return reply == "+OK\r\n";
            });
            return true;
        }

        Assert.That(writer.GetStream().Read(new byte[100]), Is.Zero, "closed without a reply: whether the change lives is not known");
        Assert.That(server.Send("SET after 1\r\n", "\r\n"), Does.StartWith("-MISCONF"), "until the restart");
        return false;
    }
}
