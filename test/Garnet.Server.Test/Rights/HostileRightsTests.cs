using System.Text;
using Garnet.Common.Test;
using Garnet.Server.Rights;

namespace Garnet.Server.Test.Rights;

/// <summary>Floods of logins, names and rules of any size, files with anything in them. Nobody else pays, and nothing stays.</summary>
public sealed class HostileRightsTests
{
    private const int Flood = 20_000, Rules = 100_000;

    [Test]
    public void A_flood_of_failed_logins_fills_nothing()
    {
        using var server = new EmbeddedServer();
        using TestClient client = new(server.Server.Port), other = new(server.Server.Port);
        var text = new StringBuilder();
        for (int i = 0; i < Flood; i++) text.Append($"*3\r\n$4\r\nAUTH\r\n$6\r\nu{i:d5}\r\n$1\r\nx\r\n");
        string last = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
        string replies = server.Send(text + "*1\r\n$4\r\nPING\r\n", "+PONG\r\n");
        Assert.That(replies.Length, Is.EqualTo((Flood * last.Length) + "+PONG\r\n".Length));
        Assert.That(other.Call("PING"), Is.EqualTo("PONG"));
        Assert.That(server.Server.Context.Rights.Denials.Newest(long.MaxValue), Has.Count.EqualTo(128));
        Assert.That(server.Server.Context.Rights.Denials.CountOf(DenialReason.Auth), Is.EqualTo(Flood));
    }

    [Test]
    public void A_name_of_many_bytes_is_refused_and_not_kept()
    {
        int bytes = LongRun.IsWanted ? 64 << 20 : 16 << 20;
        using var server = new EmbeddedServer();
        string name = new('u', bytes);
        string auth = server.Send($"*3\r\n$4\r\nAUTH\r\n${bytes}\r\n{name}\r\n$1\r\nx\r\n", "\r\n");
        Assert.That(auth, Does.StartWith("-WRONGPASS"));
        string set = server.Send($"*4\r\n$3\r\nACL\r\n$7\r\nSETUSER\r\n${bytes}\r\n{name}\r\n$2\r\non\r\n", "\r\n");
        Assert.That(set, Is.EqualTo($"-ERR Usernames can't be longer than {Users.NameBytesMax} bytes\r\n"));
        string get = server.Send($"*3\r\n$3\r\nACL\r\n$7\r\nGETUSER\r\n${bytes}\r\n{name}\r\n", "\r\n");
        Assert.That(get, Is.EqualTo("$-1\r\n"));
        Denial kept = server.Server.Context.Rights.Denials.Newest(1).Single();
        Assert.That(kept.User, Has.Length.EqualTo(DenialLog.ObjectBytesMax));
    }

    [Test]
    public void Who_has_not_said_who_he_is_cannot_send_a_long_name()
    {
        using var server = new EmbeddedServer(adjust: static settings => settings.Security.Password = "pw");
        Assert.That(server.Send("*3\r\n$4\r\nAUTH\r\n$20000\r\n", "\r\n"), Does.StartWith("-ERR Protocol error: unauthenticated bulk length"));
    }

    [TestCase("~k", "")]
    [LongCase("&c", "")]
    [TestCase(">p", "")]
    [TestCase("+select|", "")]
    [TestCase("(~s", " +get)")]
    public void A_hundred_thousand_rules_are_taken_in_one_go(string rule, string end)
    {
        using var server = new EmbeddedServer();
        using TestClient client = new(server.Server.Port), other = new(server.Server.Port);
        string[] rules = [.. Enumerable.Range(0, Rules).Select(i => $"{rule}{i}{end}")];
        Assert.That(client.Call(["ACL", "SETUSER", "ann", "on", .. rules]), Is.EqualTo("OK"));
        Assert.That(client.Call(["ACL", "SETUSER", "ann", .. rules]), Is.EqualTo("OK"), "a second time");
        Assert.That(client.Call("ACL", "LIST").Length, Is.GreaterThan(rules.Length));
        Assert.That(other.Call("PING"), Is.EqualTo("PONG"));
        Assert.That(client.Call("ACL", "DELUSER", "ann"), Is.EqualTo("1"));
    }

    [Test]
    public void A_hundred_thousand_rules_are_taken_back_in_one_go()
    {
        using var server = new EmbeddedServer();
        using TestClient client = new(server.Server.Port), other = new(server.Server.Port);
        string Rule(int i) => i % 2 == 0 ? "+set" : "-set";
        string[][] calls =
        [
            [.. Enumerable.Range(0, Rules).Select(static i => $"+get|a{i}")],
            [.. Enumerable.Range(0, Rules).Select(Rule)],
            [.. Enumerable.Range(0, Rules / 100).Select(static i => i % 2 == 0 ? "+@read" : "-@read")],
            [.. Enumerable.Range(0, Rules).Select(static i => $">p{i}")],
            [.. Enumerable.Range(0, Rules).Select(static i => $"<p{i}")],
        ];
        foreach (string[] rules in calls)
        {
            Assert.That(client.Call(["ACL", "SETUSER", "ann", "on", .. rules]), Is.EqualTo("OK"));
            Assert.That(other.Call("PING"), Is.EqualTo("PONG"));
        }

        Assert.That(client.Call("ACL", "LIST"), Does.Contain("-@all -@read").And.Not.Contain("#").And.Not.Contain("get|"));
    }

    [Test]
    public void A_pattern_with_many_stars_costs_no_more_than_its_text()
    {
        const int KeyBytes = 1 << 20;
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        string pattern = string.Concat(Enumerable.Repeat("a*", 500)) + "b";
        Assert.That(client.Call("ACL", "SETUSER", "ann", "on", "nopass", "+@all", "~" + pattern, "&" + pattern), Is.EqualTo("OK"));
        using var victim = new TestClient(server.Server.Port);
        victim.Call("AUTH", "ann", "x");
        Assert.That(victim.Call("GET", new string('a', KeyBytes)), Does.StartWith("NOPERM"));
        Assert.That(victim.Call("PUBLISH", new string('a', KeyBytes), "x"), Does.StartWith("NOPERM"));
        Assert.That(server.Server.Context.Rights.Denials.Newest(1).Single().Object, Has.Length.EqualTo(DenialLog.ObjectBytesMax));
    }

    [Test]
    public void A_pattern_that_is_too_long_to_be_matched_is_refused_and_changes_nothing()
    {
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        string pattern = "*" + string.Concat(Enumerable.Repeat("?", 2000)) + "*x";
        Assert.That(client.Call("ACL", "SETUSER", "ann", "on", "~" + pattern), Does.StartWith("ERR"));
        Assert.That(client.Call("ACL", "GETUSER", "ann"), Is.EqualTo("nil"));
        Assert.That(client.Call("PING"), Is.EqualTo("PONG"));
    }

    [Test]
    public void Any_text_is_a_file_or_is_refused_line_by_line()
    {
        const int Seed = 20_261_125, Rounds = 300;
        var random = new Random(Seed);
        using var server = new EmbeddedServer();
        Users users = server.Server.Context.Rights.Users;
        string[] words = ["user", "ann", "default", "on", "off", "nopass", ">x", "<x", "#00", "+get", "-@all", "+@all", "+nosuch", "~a", "~*", "&*", "(", ")", "(+get", "~b)", "()", "\0", "\t", "", "#", "db=1", "db=x"];
        for (int i = 0; i < Rounds; i++)
        {
            string text = string.Join('\n', Enumerable.Range(0, random.Next(6)).Select(_ => string.Join(' ', Enumerable.Range(0, random.Next(7)).Select(_ => words[random.Next(words.Length)]))));
            Dictionary<string, UserRights> read = AclFile.Read(text, "f", users, out List<string> errors);
            if (errors.Count > 0)
            {
                Assert.That(errors, Has.All.Not.Empty.And.None.Contains("\n"), text);
                continue;
            }
            users.Replace(read);
            string written = AclFile.Write(users.All());
            AclFile.Read(written, "f", users, out List<string> again);
            Assert.That(again, Is.Empty, written);
            Assert.That(users.Find("default"), Is.SameAs(users.Default));
        }
    }

    [Test]
    public void Rights_change_while_all_is_going_on()
    {
        const int Clients = 4;
        int changes = LongRun.IsWanted ? 3000 : 300;
        using var server = new EmbeddedServer();
        using var admin = new TestClient(server.Server.Port);
        admin.Call("SET", "marker", "here");
        admin.Call("ACL", "SETUSER", "ann", "on", "nopass", "+@all", "~k*", "&c*");
        using var stop = new CancellationTokenSource();
        TestThread[] threads = TestThread.Begin(Clients, i => Work(server.Server.Port, i, stop.Token));
        string[][] kinds = [["-set"], ["+set"], ["resetkeys"], ["~k*"], ["resetchannels"], ["&c*"], ["off"], ["on"], ["(+get ~x)"], ["clearselectors"], ["db=1"], ["alldbs"]];
        for (int i = 0; i < changes; i++)
        {
            if (i % 50 == 49) admin.Call("ACL", "DELUSER", "ann");
            admin.Call(["ACL", "SETUSER", "ann", .. kinds[i % kinds.Length], .. i % 50 == 49 ? (string[])["on", "nopass", "+@all", "~k*", "&c*"] : []]);
        }
        stop.Cancel();
        foreach (TestThread thread in threads) thread.Await();
        Assert.That(admin.Call("GET", "marker"), Is.EqualTo("here"));
        Assert.That(admin.Call("EXISTS", "other"), Is.EqualTo("0"), "nobody wrote what he might not");
        Assert.That(admin.Call("DEBUG", "CHECK"), Does.StartWith("ERR").Or.EqualTo("[]"));
    }

    private static void Work(int port, int seed, CancellationToken stop)
    {
        var random = new Random(seed);
        while (!stop.IsCancellationRequested)
        {
            using var client = new TestClient(port);
            try
            {
                if (client.Call("AUTH", "ann", "x") != "OK") continue;
                string[][] commands = [["SET", "k", "1"], ["SET", "other", "1"], ["GET", "k"], ["MULTI"], ["EXEC"], ["PUBLISH", "c", "1"], ["EVAL", "return redis.pcall('set', ARGV[1], 1)", "0", "other"]];
                for (int i = 0; i < 50; i++) client.Call(commands[random.Next(commands.Length)]);
                client.Call("DISCARD");
                client.Call("HELLO", "3");
                client.Send("SUBSCRIBE", "c");
                client.Read(); // a message of RESP3, or an error
                for (int i = 0; i < 5; i++) client.Call("PING");
            }
            catch (IOException)
            {
                // closed: the user or a channel was taken away
            }
        }
    }
}
