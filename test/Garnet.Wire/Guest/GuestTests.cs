using Garnet.Common.Test;
using Garnet.Wire.Persistence;
using NUnit.Framework;

namespace Garnet.Wire.Guest;

/// <summary>What needs hardware that few machines have, and a power switch: the log in persistent memory, and disks that lose what they are given.</summary>
[Parallelizable] // a machine of its own, booted once for all of them
internal sealed class GuestTests
{
    private const int Writers = 2, ChangesPerRound = 400, Rounds = 3;
    private GuestMachine? _guest;

    private GuestMachine Guest => _guest!;

    [OneTimeSetUp]
    public void Boot() => _guest = new GuestMachine();

    [OneTimeTearDown]
    public void TurnOff() => _guest?.Dispose();

    [TestCase("/tmp/pm/ring", "aof_durability:pm:adr")]
    [TestCase("/tmp/disk/ring", "aof_durability:disk")]
    [TestCase("/tmp/disk/ring", "aof_durability:pm:emulated", "--pm-emulated-trust yes")]
    public void A_change_is_said_to_outlive_the_power_by_memory_only_where_DAX_grants_it(string ring, string expected, string flags = "")
    {
        Guest.StartServer(FlagsOf("said", ring) + " " + flags);
        using (RespConnection connection = Connect()) Assert.That(connection.Call("INFO", "persistence").Text, Does.Contain(expected));
        Guest.StopServer();
    }

    [Test]
    public void What_was_acknowledged_is_there_when_the_server_was_killed()
    {
        string flags = FlagsOf("killed", "/tmp/pm/ring.killed");
        KillWriter[] writers = [.. Enumerable.Range(0, Writers).Select(static i => new KillWriter(i, seed: i))];
        for (int round = 0; round < Rounds; round++)
        {
            Guest.StartServer(flags);
            Check(writers);
            Load(writers, Guest.KillServer);
        }
        Guest.StartServer(flags);
        Check(writers);
        Guest.StopServer();
    }

    [Test]
    public void What_was_acknowledged_is_there_when_the_power_was_cut()
    {
        string flags = FlagsOf("cut", "/tmp/pm/ring.cut");
        KillWriter[] writers = [.. Enumerable.Range(0, Writers).Select(static i => new KillWriter(i, seed: i))];
        Guest.StartServer(flags);
        Load(writers, Guest.CutPower);
        Guest.StartServer(flags);
        Assert.That(Guest.Said, Does.Contain("bytes that persistent memory held were put into the log"), "the disk alone had not all of it");
        Check(writers);
        Guest.StopServer();
    }

    [Test]
    public void What_lies_on_a_tier_in_persistent_memory_is_there_when_the_power_was_cut()
    {
        Guest.Run("mkdir -p /tmp/pm/tier /tmp/disk/tiered && sync");
        const string Flags = "--dir /tmp/disk/tiered --appendonly yes --appendfsync always --maxmemory 12mb --tier-pm-path /tmp/pm/tier --tier-pm-size 24mb";
        LossWriter writer = new();
        Guest.StartServer(Flags);
        using (RespConnection connection = Connect())
        {
            writer.WriteAll(connection);
            Assert.That(connection.Call("INFO", "tiering").Text, Does.Contain("tier_pm_domain:pm:adr"));
            connection.Call("BGSAVE");
            Server.Test.Eventually.Holds(() => connection.Call("INFO", "persistence").Text.Contains("rdb_bgsave_in_progress:0", StringComparison.Ordinal));
        }
        Guest.CutPower();
        Guest.StartServer(Flags);
        using (RespConnection connection = Connect())
        {
            Assert.That(connection.Call("INFO", "tiering").Text, Does.Not.Contain("tier_pm_cold_records:0\r"), "the snapshot has named what lies there");
            writer.ReadAll(connection, mayLack: false);
            Assert.That(connection.Call("INFO", "tiering").Text, Does.Contain("tier_postponed_commands:0\r").And.Contain("tier_ssd_reads:0\r"));
        }
        Guest.StopServer();
    }

    [Test]
    public void A_disk_that_drops_what_it_takes_never_makes_a_value_another()
    {
        Guest.Run("mkfs.ext4 -q /dev/vdb && dmsetup create lossy --table \"0 $(blockdev --getsz /dev/vdb) linear /dev/vdb 0\"");
        Guest.Run("mkdir -p /tmp/lossy && mount /dev/mapper/lossy /tmp/lossy && mkdir -p /tmp/lossy/data /tmp/lossy/tier");
        const string Flags = "--dir /tmp/lossy/data --appendonly yes --appendfsync everysec --maxmemory 12mb --tier-path /tmp/lossy/tier --tier-size 24mb";
        LossWriter writer = new();
        Guest.StartServer(Flags);
        using (RespConnection connection = Connect())
        {
            writer.WriteAll(connection);
            writer.ReadAll(connection, mayLack: false);
            Guest.Run("dmsetup suspend lossy && dmsetup load lossy --table \"0 $(blockdev --getsz /dev/vdb) flakey /dev/vdb 0 0 3600 1 drop_writes\" && dmsetup resume lossy");
            writer.WriteAll(connection);
            writer.ReadAll(connection, mayLack: true);
            Assert.That(writer.Errors, Is.Positive, "what the tier has dropped is an error");
            Assert.That(connection.Call("INFO", "tiering").Text, Does.Contain("tier_read_failures:").And.Not.Contain("tier_read_failures:0\r"));
        }
        Guest.KillServer();
        Guest.Run("umount /tmp/lossy && mount /dev/mapper/lossy /tmp/lossy");
        (int status, string said) = Guest.Try($"{GuestMachine.Server[..GuestMachine.Server.IndexOf(" --", StringComparison.Ordinal)]} check /tmp/lossy/data");
        TestContext.Out.WriteLine($"check: {status} {said}");
        if (status != 0) return; // it is told, and a start goes by the same
        Guest.StartServer(Flags);
        using (RespConnection connection = Connect()) writer.ReadAfterLoss(connection);
        Guest.KillServer();
    }

    private RespConnection Connect() => new(Guest.Address, timeoutMs: 60_000);

    private string FlagsOf(string name, string ring)
    {
        Guest.Run($"mkdir -p /tmp/disk/{name} && {{ test -e {ring} || fallocate -l 16777216 {ring}; }} && chmod 600 {ring} && sync");
        return $"--dir /tmp/disk/{name} --appendonly yes --appendfsync always --aof-pm-path {ring}";
    }

    private void Load(KillWriter[] writers, Action end)
    {
        long from = writers.Sum(static writer => writer.Acknowledged);
        Thread[] threads = [.. writers.Select(writer => new Thread(() => writer.Run(Connect())))];
        foreach (Thread thread in threads) thread.Start();
        Server.Test.Eventually.Holds(() => writers.Sum(static writer => writer.Acknowledged) >= from + ChangesPerRound);
        end();
        foreach (Thread thread in threads) thread.Await();
    }

    private void Check(KillWriter[] writers)
    {
        using RespConnection connection = Connect();
        foreach (KillWriter writer in writers) Assert.That(writer.Check(connection), Is.Null);
    }
}
