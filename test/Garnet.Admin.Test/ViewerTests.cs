using System.Net.Sockets;
using System.Text;
using System.Text.Json;

namespace Garnet.Admin.Test;

/// <summary>Who sees what: everybody the figures, users what their commands would show them.</summary>
[Parallelizable(ParallelScope.Self)]
public sealed class ViewerTests
{
    private const string Secret = "s3cret-of-the-test";

    [Test]
    public void Without_a_password_this_machine_sees_all()
    {
        using var server = new AdminServer(settings: ("slowlog-log-slower-than", "0"));
        server.Command("SET k v");
        using JsonDocument page = FirstEvent(server);
        JsonElement root = page.RootElement;
        Assert.That(root.GetProperty("viewer").GetString(), Is.EqualTo("default"));
        Assert.That(root.GetProperty("hotKeys").ValueKind, Is.EqualTo(JsonValueKind.Array));
        Assert.That(root.GetProperty("slowLog").EnumerateArray().Select(static one => one.GetProperty("command").GetString()), Does.Contain("SET k v"));
        Assert.That(root.GetProperty("clients").ValueKind, Is.EqualTo(JsonValueKind.Array));
        Assert.That(root.GetProperty("settings").EnumerateArray().Single(static one => one.GetProperty("name").GetString() == "slowlog-log-slower-than").GetProperty("source").GetString(), Is.EqualTo("CommandLine"));
        Assert.That(root.GetProperty("overview").GetProperty("figures").GetProperty("total_commands_processed").GetInt64(), Is.EqualTo(1));
    }

    [Test]
    public void A_proxy_on_this_machine_is_not_this_machine([Values("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "CF-Connecting-IP",
        "True-Client-IP", "X-Client-IP", "X-Forwarded-Host", "X-Forwarded-Proto")] string field)
    {
        using var server = new AdminServer();
        using JsonDocument page = FirstEvent(server, field + ": 192.0.2.1\r\n");
        SeesNothing(page);
    }

    [Test]
    public void With_a_password_only_who_knows_it_sees_lists()
    {
        using var server = new AdminServer(settings: ("requirepass", Secret));
        using JsonDocument anybody = FirstEvent(server), user = FirstEvent(server, Basic("default", Secret));
        SeesNothing(anybody);
        Assert.That(user.RootElement.TryGetProperty("settings", out JsonElement settings));
        Assert.That(settings.EnumerateArray().Single(static one => one.GetProperty("name").GetString() == "requirepass").GetProperty("value").GetString(), Is.EqualTo("(redacted)"));
        foreach (string wrong in new[] { Basic("default", "wrong"), Basic("nobody", Secret), "Authorization: Basic !\r\n", "Authorization: Bearer x\r\n", "Authorization: Basic " + Convert.ToBase64String("nocolon"u8) + "\r\n" })
        {
            string answer = server.Get("/events", wrong);
            Assert.That(AdminServer.StatusOf(answer), Is.EqualTo(401), wrong);
            Assert.That(answer, Does.Contain("WWW-Authenticate: Basic"));
        }
    }

    [Test]
    public void Nothing_tells_the_password()
    {
        using var server = new AdminServer(settings: [("requirepass", Secret), ("slowlog-log-slower-than", "0")]);
        server.Command($"AUTH {Secret}\r\nCONFIG SET requirepass {Secret}", 2);
        foreach (string path in new[] { "/", "/metrics", "/readyz", "/healthz", "/login", "/page.js" })
            Assert.That(server.Get(path, Basic("default", Secret)), Does.Not.Contain(Secret), path);
        using JsonDocument page = FirstEvent(server, Basic("default", Secret));
        Assert.That(page.RootElement.ToString(), Does.Not.Contain(Secret));
    }

    [Test]
    public void A_user_sees_what_his_commands_would_show_him_and_no_longer_than_he_may()
    {
        using var server = new AdminServer(settings: ("requirepass", Secret));
        Assert.That(server.Command($"AUTH {Secret}\r\nACL SETUSER ops on >pw +slowlog|get", 2), Is.EqualTo("+OK\n+OK"));
        using (JsonDocument page = FirstEvent(server, Basic("ops", "pw")))
        {
            Assert.That(page.RootElement.TryGetProperty("slowLog", out _));
            Assert.That(page.RootElement.TryGetProperty("clients", out _), Is.False);
            Assert.That(page.RootElement.TryGetProperty("hotKeys", out _), Is.False);
            Assert.That(page.RootElement.TryGetProperty("settings", out _), Is.False);
        }

        var time = new ManualTime();
        using var other = new AdminServer(time, settings: ("requirepass", Secret));
        other.Command($"AUTH {Secret}\r\nACL SETUSER ops on >pw +client|list", 2);
        using TcpClient client = Open(other, Basic("ops", "pw"));
        using var reader = new StreamReader(client.GetStream(), Encoding.UTF8);
        Assert.That(NextEvent(reader), Does.Contain("\"clients\":["));
        other.Command($"AUTH {Secret}\r\nACL DELUSER ops", 2);
        Assert.That(() =>
        {
            time.Advance(AdminLimits.EventTime);
            return true;
        }, Is.True);
        Assert.That(NextEvent(reader), Does.Not.Contain("\"clients\":["));
    }

    [Test]
    public void A_wrong_password_stands_in_the_log_of_refusals()
    {
        using var server = new AdminServer(settings: ("requirepass", Secret));
        Assert.That(AdminServer.StatusOf(server.Get("/login")), Is.EqualTo(401));
        Assert.That(AdminServer.StatusOf(server.Get("/login", Basic("default", "wrong"))), Is.EqualTo(401));
        Assert.That(server.Command($"AUTH {Secret}\r\nACL LOG", 18), Does.Contain("admin-port"));
        string answer = server.Get("/login", Basic("", Secret));
        Assert.That(AdminServer.StatusOf(answer), Is.EqualTo(303));
        Assert.That(answer, Does.Contain("Location: /\r\n"));
    }

    /// <summary>Clients take what stands there apart, and miss a field that is not there.</summary>
    [Test]
    public void A_refusal_has_the_fields_that_a_client_has()
    {
        using var server = new AdminServer(settings: ("requirepass", Secret));
        Assert.That(AdminServer.StatusOf(server.Get("/login", Basic("a b=c", "wrong"))), Is.EqualTo(401));
        string refusal = server.Command($"AUTH {Secret}\r\nACL LOG", 30).Split('\n').Single(static line => line.Contains("addr=", StringComparison.Ordinal));
        string client = server.Command($"AUTH {Secret}\r\nCLIENT LIST", 3).Split('\n')[2];
        string[] fields = [.. refusal.Split(' ').Select(static field => field.Split('=')[0])];
        Assert.That(fields, Is.EqualTo(client.Split(' ').Select(static field => field.Split('=')[0])));
        Assert.That(refusal, Does.StartWith("id=0 addr=127.0.0.1:").And.Contain(" multi=-1 ").And.Contain(" user= redir=-1 resp=2 "));
    }

    [Test]
    public void The_page_and_what_it_needs_come_from_here_and_run_nothing_in_line()
    {
        using var server = new AdminServer();
        string page = server.Get("/");
        Assert.That(page, Does.Contain("Content-Type: text/html; charset=utf-8"));
        foreach (string unwanted in new[] { "style=\"", "onclick", "onload", "http://", "https://", "<style" })
            Assert.That(AdminServer.BodyOf(page), Does.Not.Contain(unwanted));
        Assert.That(AdminServer.BodyOf(page), Does.Contain("/page.js").And.Contain("/page.css"));
        Assert.That(server.Get("/page.js"), Does.Contain("Content-Type: text/javascript").And.Not.Contain("innerHTML").And.Not.Contain("eval("));
        Assert.That(server.Get("/page.css"), Does.Contain("Content-Type: text/css").And.Contain("prefers-color-scheme").And.Not.Contain("url("));
    }

    [Test]
    public void HEAD_is_a_GET_without_the_body()
    {
        using var server = new AdminServer();
        string head = server.Raw("HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        Assert.That(head, Does.StartWith("HTTP/1.1 200 OK").And.Contain("Content-Length: 3\r\n").And.EndWith("\r\n\r\n"));
        Assert.That(server.Raw("HEAD /events HTTP/1.1\r\nHost: localhost\r\n\r\n"), Does.StartWith("HTTP/1.1 200 OK").And.EndWith("\r\n\r\n"));
    }

    private static string Basic(string name, string password) => $"Authorization: Basic {Convert.ToBase64String(Encoding.UTF8.GetBytes($"{name}:{password}"))}\r\n";

    private static void SeesNothing(JsonDocument page)
    {
        Assert.That(page.RootElement.EnumerateObject().Select(static one => one.Name), Is.EqualTo(new[] { "overview" }));
    }

    private static TcpClient Open(AdminServer server, string fields)
    {
        TcpClient client = server.Connect();
        client.GetStream().Write(Encoding.ASCII.GetBytes($"GET /events HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n"));
        return client;
    }

    private static string NextEvent(StreamReader reader)
    {
        while (reader.ReadLine() is { } line)
        {
            if (line.StartsWith("data: ", StringComparison.Ordinal))
                return line[6..];
        }

        return "";
    }

    private static JsonDocument FirstEvent(AdminServer server, string fields = "")
    {
        using TcpClient client = Open(server, fields);
        using var reader = new StreamReader(client.GetStream(), Encoding.UTF8);
        return JsonDocument.Parse(NextEvent(reader));
    }
}
