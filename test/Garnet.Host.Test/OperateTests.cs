using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Text.Json;
using Garnet.Common;
using Garnet.Host.Operate;
using Garnet.Server;

namespace Garnet.Host.Test;

/// <summary>What status and doctor make of what a server and a machine say of themselves.</summary>
public sealed class OperateTests
{
    private const string Well = "garnet_version:1.2.3\r\nuptime_in_seconds:7260\r\nprocess_id:7\r\nrole:master\r\nused_memory:1048576\r\nmaxmemory:4194304\r\n"
        + "maxmemory_policy:noeviction\r\naof_last_write_status:ok\r\nrdb_last_bgsave_status:ok\r\naof_last_bgrewrite_status:ok\r\n"
        + "garnet_writes_refused:no\r\nkeyspace_hits:3\r\nkeyspace_misses:1\r\nconnected_clients:5\r\nmaxclients:10000\r\n"
        + "latency_percentiles_usec_get:p50=1.000,p99=900.000,p99.9=2000.000\r\nlatency_percentiles_usec_set:p50=1.0,p99=1500.0\r\n"
        + "db0:keys=1200,expires=3,avg_ttl=0\r\ndb9:keys=34,expires=0\r\ngarnet_slave0:shipped=9,lag_batches=4,lag_ms=2\r\n";

    [Test]
    public void A_server_that_is_well_is_a_screen_of_its_figures()
    {
        StatusScreen screen = Screen(Well);
        Assert.That(screen.IsHealthy, Is.True);
        string[] lines = [.. screen.Lines()];
        Assert.That(lines[0], Is.EqualTo("127.0.0.1:6379  Garnet 1.2.3  healthy"));
        Assert.That(lines.Select(static line => line.Trim()), Is.SupersetOf((string[])[
            "up            2 h 1 min, process 7, answers in 0.25 ms",
            "role          primary of 1, the slowest 4 batches behind",
            "memory        1.0 MiB of 4.0 MiB (25 %), resident 0 bytes, noeviction, 0 evicted",
            "keys          1,234, of which 3 expire, hit rate 75 %",
            "persistence   none",
            "clients       5 of 10,000",
            "slowest (p99) set 1.5 ms, get 0.9 ms"]));
    }

    [Test]
    public void Programs_get_the_same_as_JSON()
    {
        using var json = JsonDocument.Parse(Screen(Well + "loading:1\r\nrun_id:\"\\\u00e4\r\n").Json());
        Assert.That(json.RootElement.GetProperty("healthy").GetBoolean(), Is.False);
        Assert.That(json.RootElement.GetProperty("info").GetProperty("used_memory").GetString(), Is.EqualTo("1048576"));
        Assert.That(json.RootElement.GetProperty("info").GetProperty("run_id").GetString(), Is.EqualTo("\"\\\u00e4"));
        Assert.That(json.RootElement.GetProperty("findings")[0].GetProperty("kind").GetString(), Is.EqualTo("trouble"));
    }

    [Test]
    public void Figures_that_cannot_be_are_no_mistake_of_ours()
    {
        string info = string.Concat(Well.Split("\r\n").Where(static line => line.Length > 0)
            .Select(static line => line[..(line.IndexOf(':') + 1)] + "9223372036854775807,keys=1e400,lag_batches=NaN\r\n"));
        Assert.DoesNotThrow(() => _ = Screen(info).Lines().Count());
        info = info.Replace(",keys=1e400,lag_batches=NaN", "");
        Assert.DoesNotThrow(() => _ = Screen(info + "rdb_saves:1\r\nrdb_last_save_time:-9223372036854775808\r\ngarnet_data_directory:x\r\n").Lines().Count());
    }

    [Test]
    public void What_a_terminal_would_obey_is_not_passed_on()
    {
        string[] lines = [.. Screen("tier_last_failure:\e]0;x\a\e[2J\u009b2J\u202e\u2028\r\n" + Well).Lines()];
        Assert.That(string.Concat(lines).Any(char.IsControl), Is.False);
        Assert.That(lines, Has.One.StartsWith("TROUBLE: the tier had a failure: ?]0;x??[2J?2J??"));
    }

    [TestCase("", null)]
    [TestCase("loading:1", "TROUBLE: the server loads its data")]
    [TestCase("garnet_writes_refused:disk", "TROUBLE: writes are refused: disk")]
    [TestCase("aof_last_write_status:err", "TROUBLE: the append-only file cannot be written")]
    [TestCase("aof_last_bgrewrite_status:err", "TROUBLE: the last BGREWRITEAOF failed")]
    [TestCase("rdb_last_bgsave_status:err", "TROUBLE: the last snapshot failed")]
    [TestCase("role:slave|master_host:h|master_port:1|master_link_status:down|garnet_repl_link_problem:no route", "TROUBLE: no link to the primary h:1: no route")]
    [TestCase("role:slave|master_link_status:up", null)]
    [TestCase("role:slave|master_link_status:down|master_sync_in_progress:1|loading:1", "TROUBLE: the server loads its data")]
    [TestCase("used_memory:4100000|tier_size_bytes:1000|tier_free_bytes:30|tier_live_bytes:840", null)]
    [TestCase("used_memory:100|tier_size_bytes:1000|tier_free_bytes:80|tier_live_bytes:850", "TROUBLE: the tier is nearly full")]
    [TestCase("garnet_repl_divergences:2", "Advice: this server's data differed from its primary's (2 times)")]
    [TestCase("used_memory:3800000", "TROUBLE: memory is nearly full: 3.6 MiB of 4.0 MiB")]
    [TestCase("used_memory:3800000|maxmemory_policy:allkeys-lru", null)]
    [TestCase("garnet_open_to_network:1", "TROUBLE: anybody who reaches the port")]
    [TestCase("garnet_tls_certificate_expires:1864000", "Advice: the certificate expires in 10 days")]
    [TestCase("garnet_tls_certificate_expires:3000000", null)]
    [TestCase("garnet_tls_certificate_expires:999999", "TROUBLE: the certificate has expired")]
    [TestCase("connected_slaves:1", "Advice: min-replicas-to-write is 0")]
    [TestCase("connected_slaves:1|min_slaves_good_slaves:1", null)]
    [TestCase("tier_last_failure:read: I/O error", "TROUBLE: the tier had a failure: read: I/O error")]
    [TestCase("garnet_backup_last_error:open /b: no such directory", "TROUBLE: the last backup had a failure: open /b: no such directory")]
    [TestCase("garnet_backup_last_error:", null)]
    [TestCase("garnet_log_lines_lost:7", "Advice: 7 lines of the server's log")]
    public void What_INFO_says_is_found(string fields, string? expected)
    {
        // the first of a name counts
        IEnumerable<string> found = Screen(fields.Replace("|", "\r\n") + "\r\n" + Well).Lines().Where(static line => !line.StartsWith(' ')).Skip(1);
        Assert.That(string.Join("; and ", found), expected is null ? Is.Empty : Does.StartWith(expected).And.Not.Contains("; and "));
    }

    [TestCase("", "", "", null)]
    [TestCase("maxmemory", "5000", "", "TROUBLE maxmemory is 5000 bytes, and there are 4000 bytes")]
    [TestCase("", "", "/sys/kernel/mm/transparent_hugepage/enabled=always madvise [never]", "Advice huge pages are switched off")]
    [TestCase("", "", "/sys/kernel/mm/transparent_hugepage/enabled=always [madvise] never", null)]
    [TestCase("", "", "/proc/sys/vm/overcommit_memory=2", "Advice the kernel does not overcommit memory")]
    [TestCase("", "", "/proc/swaps=Filename\n/swap file 1 0|/proc/sys/vm/swappiness=60", "Advice there is swap space, and vm.swappiness is 60")]
    [TestCase("", "", "/proc/swaps=Filename\n|/proc/sys/vm/swappiness=60", null)]
    [TestCase("", "", "/proc/self/limits=Limit Soft\nMax open files            100                  10127                files", "Advice 10127 files may be open")]
    [TestCase("", "", "/proc/self/limits=Limit Soft\nMax open files            100                  10128                files", null)]
    [TestCase("", "", "/proc/self/limits=Max open files            unlimited            unlimited            files", null)]
    [TestCase("", "", "/proc/sys/net/core/somaxconn=128", "Advice tcp-backlog is 511, and the kernel grants 128")]
    [TestCase("", "", "/sys/devices/system/clocksource/clocksource0/current_clocksource=hpet", "Advice the clock source is hpet")]
    [TestCase("", "", "/sys/devices/system/clocksource/clocksource0/current_clocksource=tsc", null)]
    [TestCase("", "", "/proc/sys/kernel/io_uring_disabled=2", null)]
    [TestCase("tier-path", "/tmp", "/proc/sys/kernel/io_uring_disabled=2", "Advice io_uring is switched off")]
    [TestCase("tier-path", "/m/t", "/proc/mounts=x / ext4 rw\nx /m tmpfs rw\nx /m/tiers ext4 rw", "TROUBLE the tier /m/t lies in memory")]
    [TestCase("tier-path", "/nowhere/tier", "", "TROUBLE there is no directory for the tier: /nowhere/tier")]
    [TestCase("tier-path", "/tmp", "", null)]
    [TestCase("tier-pm-path", "/nowhere/pm", "", "TROUBLE there is no directory for the tier in persistent memory: /nowhere/pm")]
    [TestCase("dir", "/m/d", "/proc/mounts=x / ext4 rw\nx /m tmpfs rw", "TROUBLE the data directory /m/d lies in memory")]
    [TestCase("backup-path", "/nowhere/backups", "", "TROUBLE there is no directory for backups: /nowhere/backups")]
    [TestCase("backup-path", "/tmp", "", null)]
    [TestCase("dir", "/mm", "/proc/mounts=x / ext4 rw\nx /m tmpfs rw", null)]
    public void What_a_machine_says_is_found(string setting, string value, string files, string? expected)
    {
        var settings = new ServerSettings();
        var table = new SettingTable();
        settings.Register(table);
        if (setting.Length > 0)
            Assert.That(table.SetAtStart(setting, value, SettingSource.CommandLine, "test"), Is.Null);
        var texts = files.Split('|', StringSplitOptions.RemoveEmptyEntries).ToDictionary(static one => one[..one.IndexOf('=')], static one => one[(one.IndexOf('=') + 1)..]);
        Machine machine = new(texts.GetValueOrDefault, memoryBytes: 4000);
        string[] found = [.. MachineChecks.All.Select(check => check.Look(machine, settings)).OfType<Finding>()
            .Select(static one => $"{(one.IsTrouble ? "TROUBLE" : "Advice")} {one.What}")];
        Assert.That(string.Join("; and ", found), expected is null ? Is.Empty : Does.StartWith(expected).And.Not.Contains("; and "));
    }

    [Test]
    public void A_directory_for_backups_that_may_not_be_written_is_found()
    {
        if (Environment.IsPrivilegedProcess) Assert.Ignore("nothing is forbidden to root");
        string path = Directory.CreateTempSubdirectory("garnet-doctor").FullName;
        var settings = new ServerSettings { Backups = { Path = path } };
        Machine machine = new(static _ => null, memoryBytes: 4000);
        Assert.That(MachineChecks.All.Select(check => check.Look(machine, settings)).OfType<Finding>(), Is.Empty);
        if (!OperatingSystem.IsWindows()) File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserExecute);
        Finding found = MachineChecks.All.Select(check => check.Look(machine, settings)).OfType<Finding>().Single();
        Directory.Delete(path);
        Assert.That((found.IsTrouble, found.What), Is.EqualTo((true, $"no file can be made in the directory for backups: {path}")));
    }

    [TestCase("+PONG\r\n$-1\r\n")]
    [TestCase("+PONG\r\n$0\r\n\r\n")]
    [TestCase("+PONG\r\n$9223372036854775808\r\n")]
    [TestCase("HTTP/1.1 400 Bad Request\r\n\r\n")]
    [TestCase("+PONG\r\n$21\r\nredis_version:7.0.15\r\n")]
    public async Task Whoever_answers_otherwise_is_no_healthy_server(string reply)
    {
        using var other = new TcpListener(IPAddress.Loopback, 0);
        other.Start();
        var settings = new ServerSettings();
        settings.Network.Port = ((IPEndPoint)other.LocalEndpoint).Port;
        var output = new StringWriter();
        Task<bool> asked = Task.Run(() => StatusVerb.Run(settings, asJson: false, watches: false, output));
        using (Socket client = await other.AcceptSocketAsync())
        {
            await client.SendAsync(Encoding.ASCII.GetBytes("+PONG\r\n" + reply + "\r\n"));
            client.Shutdown(SocketShutdown.Send);
            Assert.That(await asked, Is.False);
        }
        Assert.That(output.ToString(), Does.Contain("it is no Garnet server").Or.Contains("it does not answer"));
    }

    [Test]
    public void Nobody_there_is_said_with_what_to_do()
    {
        var settings = new ServerSettings();
        settings.Network.Port = 0;
        settings.Network.UnixSocket = "/nowhere/garnet.sock";
        var output = new StringWriter();
        Assert.That(StatusVerb.Run(settings, asJson: false, watches: false, output), Is.False);
        Assert.That(output.ToString(), Does.StartWith("/nowhere/garnet.sock  it does not answer: ").And.Contains("--unixsocket"));
        output = new StringWriter();
        Assert.That(StatusVerb.Run(settings, asJson: true, watches: false, output), Is.False);
        using var json = JsonDocument.Parse(output.ToString());
        Assert.That(json.RootElement.GetProperty("healthy").GetBoolean(), Is.False);
        output = new StringWriter();
        Assert.That(DoctorVerb.Run(settings, new Machine(static _ => null, 4000), asJson: false, output), Is.True);
        Assert.That(output.ToString(), Does.Contain("Server: /nowhere/garnet.sock: it does not answer").And.Contains("0 in trouble, 0 could be better."));
    }

    [Test]
    public void What_the_doctor_finds_is_said_for_programs_too()
    {
        var settings = new ServerSettings { Memory = { MaxMemoryBytes = 5000 } };
        settings.Network.Port = 0;
        settings.Network.UnixSocket = "/nowhere/garnet.sock";
        var output = new StringWriter();
        Assert.That(DoctorVerb.Run(settings, new Machine(static _ => null, 4000), asJson: true, output), Is.False);
        using var json = JsonDocument.Parse(output.ToString());
        Assert.Multiple(() =>
        {
            Assert.That(json.RootElement.GetProperty("troubles").GetInt32(), Is.EqualTo(1));
            Assert.That(json.RootElement.GetProperty("answers").GetBoolean(), Is.False);
            Assert.That(json.RootElement.GetProperty("looked_at").GetArrayLength(), Is.EqualTo(MachineChecks.All.Count));
            Assert.That(json.RootElement.GetProperty("findings")[0].GetProperty("kind").GetString(), Is.EqualTo("trouble"));
            Assert.That(json.RootElement.GetProperty("findings")[0].GetProperty("what").GetString(), Does.StartWith("maxmemory is "));
        });
    }

    private static StatusScreen Screen(string info)
    {
        InfoReply reply = new(info);
        return new(new IPEndPoint(IPAddress.Loopback, 6379), reply, 0.25, [.. ServerTroubles.Of(reply, DateTimeOffset.FromUnixTimeSeconds(1_000_000))]);
    }
}
