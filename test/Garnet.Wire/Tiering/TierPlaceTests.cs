using System.Diagnostics;
using System.Globalization;
using Garnet.Server.Test;
using Garnet.Wire.Persistence;
using NUnit.Framework;

namespace Garnet.Wire.Tiering;

/// <summary>Tiers where something is wrong with the place they lie in, or with the memory above them: it is said, nothing is lost, and the server answers and stops in order.</summary>
[Parallelizable] // servers of its own
public sealed class TierPlaceTests
{
    private const int Keys = 200, LargeBytes = 1 << 20, WritesMax = 2000;
    private const string Marker = "marker", Memory = "64mb", Settings = "--tier-size 16mb --appendonly yes --appendfsync always";

    [Test]
    public void On_a_disk_that_the_log_fills_up_what_is_cold_is_read_writes_are_refused_and_are_taken_again_when_there_is_room()
    {
        using Mounted disk = Mounted.Disk(512 << 20);
        string[] places = PlacesIn(disk);
        string filler = Path.Combine(disk.Path, "filler");
        int writes;
        using (ServerProcess server = Start(places))
        {
            using RespConnection client = new(server.Address, 60_000), writer = new(server.Address, 60_000);
            Put(client);
            FillUp(filler);
            writes = WriteUntilHeld(writer, client);
            Assert.That(client.Call("SET", "other", "1").ToString(), Does.StartWith("-MISCONF").And.Contain("No space left"));
            Check(client);
            Assert.That(client.Call("TIER.DEMOTE", Marker).ToString(), Is.EqualTo(":1"), "the tier's room was set aside");
            File.Delete(filler);
            Assert.That(writer.Read().ToString(), Is.EqualTo("+OK"), "what waited is kept");
            Eventually.Holds(() => client.Call("SET", "after", "1").ToString() == "+OK");
            Check(client);
            Stop(server, client);
        }
        using ServerProcess again = Start(places);
        using RespConnection reader = new(again.Address, 60_000);
        Check(reader);
        Assert.That(reader.Call("GET", "after").Text, Is.EqualTo("1"));
        Assert.That(reader.Call("STRLEN", "large").ToString(), Is.EqualTo($":{LargeBytes + writes}"));
    }

    [Test]
    public void A_tier_that_does_not_fit_beside_the_data_is_refused_and_leaves_nothing_behind()
    {
        using Mounted disk = Mounted.Disk(64 << 20);
        string[] places = PlacesIn(disk);
        FillUp(Path.Combine(disk.Path, "filler"), leaves: 8 << 20);
        (int code, string said) = Refused(places);
        Assert.That((code, said), Is.EqualTo((64, said)));
        Assert.That(said, Does.Contain($"cannot set {16 << 20} bytes aside in {places[1]}").And.Contain("No space left").And.Contain("lower tier-size"));
        Assert.That(Directory.GetFiles(places[1]), Is.Empty);
    }

    [Test]
    public void Where_nobody_may_write_a_tier_is_refused_and_goes_on_once_that_is_mended()
    {
        using Mounted disk = Mounted.Disk(64 << 20);
        DirectoryInfo data = Directory.CreateTempSubdirectory("garnet-data-");
        string[] places = [data.FullName, disk.Path];
        using (ServerProcess server = Start(places))
        {
            using RespConnection client = new(server.Address, 60_000);
            Put(client);
            Stop(server, client);
        }
        disk.AllowWrites(false);
        (int code, string said) = Refused(places);
        disk.AllowWrites(true);
        Assert.That((code, said), Is.Not.EqualTo((0, said)));
        Assert.That(said, Does.Contain("Read-only file system").And.Contain(disk.Path));
        using (ServerProcess again = Start(places))
        {
            using RespConnection client = new(again.Address, 60_000);
            Check(client);
        }
        data.Delete(recursive: true);
    }

    [Test]
    public void Without_direct_reads_it_works_and_says_what_that_costs()
    {
        using Mounted place = Mounted.WithoutDirectReads();
        string[] places = PlacesIn(place);
        using (ServerProcess server = Start(places))
        {
            using RespConnection client = new(server.Address, 60_000);
            Eventually.Holds(() => server.LastWords.Contains("without direct I/O", StringComparison.Ordinal));
            Put(client);
            Check(client);
            Stop(server, client);
        }
        using ServerProcess again = Start(places);
        using RespConnection reader = new(again.Address, 60_000);
        Assert.That(reader.Tiering("tier_cold_records"), Is.EqualTo(Keys));
        Check(reader);
    }

    [Test]
    public void A_copy_of_a_data_directory_does_not_get_the_tier_of_the_one_that_runs()
    {
        using TierScratch tier = new();
        DirectoryInfo data = Directory.CreateTempSubdirectory("garnet-data-"), copy = Directory.CreateTempSubdirectory("garnet-copy-");
        string[] places = [data.FullName, tier.Path];
        using (ServerProcess server = Start(places))
        {
            using RespConnection client = new(server.Address, 60_000);
            Put(client);
            using (Process copies = Process.Start("cp", ["-r", $"{data.FullName}/.", copy.FullName])) copies.WaitForExit(); // whatever lock the server has on it
            (int code, string said) = Refused([copy.FullName, tier.Path]);
            Assert.That((code, said), Is.EqualTo((RefusedStart.Data, said)));
            Assert.That(said, Does.Contain("the tier's file is in use").And.Contain("give a copy its own tier-path"));
            Check(client);
            Stop(server, client);
        }
        using (ServerProcess again = Start(places))
        {
            using RespConnection client = new(again.Address, 60_000);
            Check(client);
        }
        data.Delete(recursive: true);
        copy.Delete(recursive: true);
    }

    [Test]
    public void With_less_memory_than_there_must_be_what_is_there_is_read_and_writes_are_refused_until_there_is_more()
    {
        const string Less = "1kb";
        using TierScratch tier = new();
        DirectoryInfo data = Directory.CreateTempSubdirectory("garnet-data-");
        string[] places = [data.FullName, tier.Path];
        using (ServerProcess server = Start(places))
        {
            using RespConnection client = new(server.Address, 60_000);
            Put(client);
            Assert.That(client.Call("CONFIG", "SET", "maxmemory", Less).ToString(), Is.EqualTo("+OK"));
            Assert.That(client.Call("SET", "new", "1").ToString(), Does.StartWith("-OOM"));
            Check(client);
            Assert.That(client.Call("CONFIG", "SET", "maxmemory", Memory).ToString(), Is.EqualTo("+OK"));
            Eventually.Holds(() => client.Call("SET", "new", "1").ToString() == "+OK");
            Stop(server, client);
        }
        (int code, string said) = Refused(places, Less);
        Assert.That((code, said), Is.EqualTo((64, said)));
        Assert.That(said, Does.Contain("Set maxmemory to "));
        using (ServerProcess again = Start(places))
        {
            using RespConnection client = new(again.Address, 60_000);
            Check(client);
            Assert.That(client.Call("GET", "new").Text, Is.EqualTo("1"));
        }
        data.Delete(recursive: true);
    }

    // How many there were, each longer than the one before; the last has no answer yet.
    private static int WriteUntilHeld(RespConnection writer, RespConnection client)
    {
        for (int writes = 1; writes < WritesMax; writes++)
        {
            writer.Send(RespConnection.Encode("SET", "large", new string('l', LargeBytes + writes)));
            bool isHeld = false;
            Eventually.Holds(() => writer.HasMore || (isHeld = client.Call("INFO", "persistence").Text.Contains("garnet_aof_trouble", StringComparison.Ordinal)));
            if (isHeld) return writes;
            Assert.That(writer.Read().ToString(), Is.EqualTo("+OK"));
        }
        throw new AssertionException("the disk is never full");
    }

    private static string[] PlacesIn(Mounted disk) => [.. new[] { "data", "tier" }.Select(name => Directory.CreateDirectory(Path.Combine(disk.Path, name)).FullName)];

    private static string FlagsOf(string[] places, string memory = Memory) => $"--maxmemory {memory} {Settings} --dir {places[0]} --tier-path {places[1]}";

    private static ServerProcess Start(string[] places)
    {
        _ = Servers.Ours; // skips with the reason when it is not there
        return ServerProcess.TryStartOurs(FlagsOf(places))!;
    }

    private static (int Code, string Said) Refused(string[] places, string memory = Memory) =>
        RefusedStart.RunWith([.. FlagsOf(places, memory).Split(' '), "--port", "0", "--unixsocket", Path.Combine(Path.GetTempPath(), $"garnet-{Guid.NewGuid():N}")]);

    private static void Stop(ServerProcess server, RespConnection client)
    {
        client.Send(RespConnection.Encode("SHUTDOWN"));
        Assert.That(client.ReadsEnd(60_000), Is.True);
        server.WaitForExit();
        Assert.That(server.LastWords, Does.StartWith("it ended with code 0"));
    }

    // What is not there any more leaves no room, but for so much.
    private static void FillUp(string path, long leaves = 0)
    {
        long room = new DriveInfo(Path.GetDirectoryName(path)!).AvailableFreeSpace - leaves;
        byte[] zeros = new byte[64 << 10];
        using FileStream file = new(path, FileMode.Create, FileAccess.Write, FileShare.None, bufferSize: 0);
        try
        {
            for (; room > 0; room -= zeros.Length) file.Write(zeros);
        }
        catch (IOException)
        {
            // it is full
        }
    }

    private static void Put(RespConnection client)
    {
        Assert.That(client.Call("SET", Marker, "here").ToString(), Is.EqualTo("+OK"));
        for (int i = 0; i < Keys; i++)
        {
            Assert.That(client.Call("SET", "key:" + i, Value(i)).ToString(), Is.EqualTo("+OK"));
            Assert.That(client.Call("TIER.DEMOTE", "key:" + i).ToString(), Is.EqualTo(":1"));
        }
        client.SaveSnapshot();
    }

    private static void Check(RespConnection client)
    {
        Assert.That(client.Call("PING").ToString(), Is.EqualTo("+PONG"));
        Assert.That(client.Call("GET", Marker).Text, Is.EqualTo("here"));
        for (int i = 0; i < Keys; i++) Assert.That(client.Call("GET", "key:" + i).Text, Is.EqualTo(Value(i)));
    }

    private static string Value(int i) => string.Create(CultureInfo.InvariantCulture, $"{i}:").PadRight(1500, (char)('a' + (i % 26)));
}
