using System.Diagnostics;
using System.Text.Json;
using Garnet.Common;

namespace Garnet.Server.Test.Rights;

/// <summary>The audit trail: what it tells, what it never tells, and that nobody waits for it.</summary>
public sealed class AuditTests
{
    private string _file = "";

    [SetUp]
    public void SetUp() => _file = Path.Combine(Path.GetTempPath(), $"garnet-audit-{Guid.NewGuid():n}");

    [TearDown]
    public void TearDown() => File.Delete(_file);

    [Test]
    public void Logins_refusals_changes_and_commands_of_administrators_are_lines_of_their_own()
    {
        using (var server = new EmbeddedServer(adjust: settings => settings.Security.AuditFile = _file))
        using (TestClient admin = new(server.Server.Port), client = new(server.Server.Port))
        {
            admin.Call("ACL", "SETUSER", "ann", "on", ">geheim", "+@all", "-flushall", "~mykey");
            admin.Call("CONFIG", "SET", "requirepass", "geheim", "maxmemory-samples", "7");
            admin.Call("CONFIG", "SET", "requirepass", "a", "geheim", "geheim");
            admin.Call("ACL", "SETUSER", ">geheim", "on");
            admin.Call("ACL", "DELUSER", ">geheim");
            client.Call("AUTH", "ann", "falsch");
            client.Call("AUTH", "ann", "geheim");
            client.Call("FLUSHALL");
            client.Call("GET", "otherkey");
            client.Call("SET", "mykey", "myvalue");
            admin.Call("CONFIG", "SET", "nosuch", "x");
            admin.Call("ACL", "DELUSER", "ann", "bob");
        }

        string text = File.ReadAllText(_file);
        foreach (string secret in (string[])["geheim", "falsch", "otherkey", "mykey", "myvalue"]) Assert.That(text, Does.Not.Contain(secret));
        string[] told = [.. text.Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(Told)];
        Assert.That(told, Is.EqualTo((string[])
        [
            "command default acl|setuser ok ann", "command default config|set ok requirepass,maxmemory-samples",
            "command default config|set failed requirepass,?", "command default acl|setuser ok ?", "command default acl|deluser ok ?", "login-failed ann auth", "login ann auth",
            "refused ann flushall command", "refused ann get key", "command default config|set failed ?", "command default acl|deluser ok ann,bob",
        ]));
    }

    [TestCase("(+get >geheim)")]
    [TestCase("ann >geheim")]
    [TestCase("on\t>geheim")]
    [TestCase("'>geheim'")]
    [TestCase("\">geheim")]
    [TestCase("geheim\"")]
    [TestCase("geheim)")]
    [TestCase("ann>geheim")]
    [TestCase("ann<geheim")]
    [TestCase("ann#geheim")]
    [TestCase("ann!geheim")]
    public void A_name_that_may_hold_a_password_is_not_told(string name)
    {
        using (var server = new EmbeddedServer(adjust: settings => settings.Security.AuditFile = _file))
        using (var admin = new TestClient(server.Server.Port))
        {
            admin.Call("CONFIG", "SET", "slowlog-log-slower-than", "0");
            admin.Call("ACL", "SETUSER", name);
            admin.Call("ACL", "DELUSER", "x", name);
            Assert.That(admin.Call("SLOWLOG", "GET", "-1"), Does.Contain("[ACL DELUSER x (redacted)]").And.Not.Contain("geheim"));
        }

        Assert.That(File.ReadAllLines(_file).Select(Told).Where(static line => line.Contains(" acl|", StringComparison.Ordinal)), Is.EqualTo((string[])
            [$"command default acl|setuser {(name.Any(char.IsWhiteSpace) ? "failed" : "ok")} ?", "command default acl|deluser ok x,?"]));
    }

    [Test]
    public void A_name_that_is_no_users_is_not_told_of_what_failed()
    {
        using (var server = new EmbeddedServer(adjust: settings => settings.Security.AuditFile = _file))
        using (var admin = new TestClient(server.Server.Port))
        {
            admin.Call("ACL", "SETUSER", "ann", "on");
            admin.Call("ACL", "SETUSER", "geheim", "nonsense");
            admin.Call("ACL", "SETUSER", "ann", "nonsense");
            admin.Call("AUTH", "geheim", "ann");
            admin.Call("HELLO", "3", "AUTH", "geheim", "ann");
            admin.Call("AUTH", "ann", "x");
        }

        Assert.That(File.ReadAllLines(_file).Select(Told), Is.EqualTo((string[])
        [
            "command default acl|setuser ok ann", "command default acl|setuser failed ?", "command default acl|setuser failed ann",
            "login-failed ? auth", "login-failed ? hello", "login-failed ann auth",
        ]));
    }

    [Test]
    public void What_is_too_much_is_counted_and_told()
    {
        const int Logins = 5000, PerSecond = 100;
        long lost, written;
        using (var server = new EmbeddedServer(adjust: settings => (settings.Security.AuditFile, settings.Security.AuditEventsPerSecond) = (_file, PerSecond)))
        {
            using var client = new TestClient(server.Server.Port);
            client.Pipeline(Logins, ["AUTH", "nobody", "x"]);
            lost = server.Server.Context.Monitoring.Audit.Lost;
            server.Dispose();
            written = server.Server.Context.Monitoring.Audit.Written;
        }

        Assert.That(lost + written, Is.EqualTo(Logins));
        Assert.That(lost, Is.GreaterThan(Logins / 2));
        JsonElement[] lines = [.. File.ReadAllLines(_file).Select(static line => JsonDocument.Parse(line).RootElement)];
        Assert.That(lines.Where(static line => line.GetProperty("event").GetString() == "lost").Sum(static line => line.GetProperty("count").GetInt64()), Is.EqualTo(lost));
    }

    [Test]
    public void A_file_that_cannot_be_written_at_the_start_is_refused()
    {
        string nowhere = Path.Combine(_file, "nowhere");
        GarnetException refused = Assert.Throws<GarnetException>(() => new EmbeddedServer(adjust: settings => settings.Security.AuditFile = nowhere).Dispose())!;
        Assert.That($"{refused.What}: {refused.Why}", Does.StartWith($"audit-file {nowhere}: it cannot be written: "));
    }

    [Test]
    public void A_pipe_that_nobody_reads_is_refused()
    {
        if (!OperatingSystem.IsLinux()) Assert.Ignore("pipes with names are made on Linux here");
        using (Process made = Process.Start("mkfifo", _file)) made.WaitForExit();
        GarnetException refused = Assert.Throws<GarnetException>(() => new EmbeddedServer(adjust: settings => settings.Security.AuditFile = _file).Dispose())!;
        Assert.That(refused.Why, Does.Contain("it is a pipe"));
    }

    [Test]
    public void A_file_that_cannot_be_written_holds_nobody_up()
    {
        string nowhere = Path.Combine(Directory.CreateDirectory(_file).FullName, "nowhere");
        var lines = new RecordedLines();
        using var server = new EmbeddedServer(adjust: settings => settings.Security.AuditFile = nowhere, lines: lines);
        Directory.Delete(_file, recursive: true);
        using var client = new TestClient(server.Server.Port);
        for (int i = 0; i < 100; i++) Assert.That(client.Call("CONFIG", "GET", "port"), Does.Contain("port"));
        Eventually.Holds(() => server.Server.Context.Monitoring.Audit.Lost == 100);
        Assert.That(server.Server.Context.Monitoring.Audit.Written, Is.Zero);
        Assert.That(client.Call("INFO", "stats"), Does.Contain("garnet_audit_lost:100\r\n"));
        server.Dispose();
        Assert.That(lines.All.Count(static line => line.Contains("audit trail cannot be written", StringComparison.Ordinal)), Is.EqualTo(1), "once");
    }

    [Test]
    public void Nothing_is_kept_where_nothing_is_asked_for()
    {
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        client.Call("AUTH", "nobody", "x");
        client.Call("CONFIG", "GET", "port");
        Assert.That((server.Server.Context.Monitoring.Audit.Written, server.Server.Context.Monitoring.Audit.Lost), Is.EqualTo((0L, 0L)));
    }

    private static string Told(string line)
    {
        JsonElement json = JsonDocument.Parse(line).RootElement;
        Assert.That(json.GetProperty("time").GetDateTime(), Is.EqualTo(DateTime.UtcNow).Within(TimeSpan.FromMinutes(5)));
        Assert.That(json.GetProperty("client").GetInt64(), Is.Positive);
        Assert.That(json.GetProperty("address").GetString(), Does.StartWith("127.0.0.1:"));
        IEnumerable<string> parts = ((string[])["event", "user", "command", "reason", "result"]).Where(name => json.TryGetProperty(name, out _)).Select(name => json.GetProperty(name).GetString()!);
        string names = json.TryGetProperty("names", out JsonElement list) ? " " + string.Join(',', list.EnumerateArray().Select(static name => name.GetString())) : "";
        return string.Join(' ', parts) + names;
    }
}
