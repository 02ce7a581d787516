using System.Globalization;

namespace Garnet.Server.Test.Replication;

/// <summary>Rows 28, 30, 32, 54 and 55 of the list of bad inputs (<c>BadInputTests</c>), as far as they concern who follows whom: each is answered, and nothing is changed.</summary>
public sealed class HostileInputTests
{
    private const int WaitMs = 20_000;

    [TestCase("CONFIG SET dir /etc")]
    [TestCase("CONFIG SET dbfilename authorized_keys")]
    [TestCase("CONFIG SET appenddirname /root")]
    [TestCase("CONFIG SET appendfilename ../x")]
    [TestCase("CONFIG SET replica-read-only no")]
    [TestCase("DEBUG SET-ACTIVE-EXPIRE 0")]
    [TestCase("MODULE LOAD /tmp/evil.so")]
    public void Row_28_nothing_lets_a_stranger_choose_files_or_code(string command) => AssertRefused(command.Split(' '));

    [Test]
    public void Row_28_a_rogue_primary_puts_nothing_into_a_replica()
    {
        using EmbeddedServer server = new();
        using StrangePeer rogue = new("+FULLRESYNC 0123456789012345678901234567890123456789 1\r\n$4\r\n\u007fELF");
        using TestClient client = new(server.Server.Port);
        client.Call("SET", "k", "v");
        client.Call("SLAVEOF", "127.0.0.1", rogue.Port.ToString(CultureInfo.InvariantCulture));
        Assert.That(() => client.Call("INFO", "replication"), Does.Contain("garnet_repl_link_problem:it answered").After(WaitMs, 10));
        Assert.That(client.Call("GET", "k"), Is.EqualTo("v"));
        Assert.That(client.Call("DBSIZE"), Is.EqualTo("1"));
    }

    [TestCase("REPL HELLO 2 0123456789012345678901234567890123456789 6379 - 0:0:", "REPL HELLO")]
    [TestCase("REPLCONF capa eof rdb-only 1\r\nSYNC", "SYNC")]
    public void Who_takes_a_connection_over_must_not_have_sent_more(string commands, string taking)
    {
        using EmbeddedServer server = new();
        string answer = server.Send(commands + "\r\nPING\r\n", "+PONG\r\n"); // one write: what follows has come when the command runs
        Assert.That(answer, Does.Contain($"-ERR {taking} must stand alone: send it after the replies to all before it\r\n"));
    }

    [Test]
    public void Row_30_a_MIGRATE_to_nobody_moves_nothing() => AssertRefused("MIGRATE", "127.0.0.1", "1", "k", "0", "999999999");

    [TestCase("HTTP/1.1 400 Bad Request\r\n\r\n")]
    [TestCase("SSH-2.0-OpenSSH_9.2\r\n\r\n")]
    [TestCase("+OK\r\nwhat?\r\n")]
    [TestCase("+OK\r\n+QUEUED\r\n")]
    [TestCase("$-1\r\n*0\r\n")]
    public void Row_30_a_MIGRATE_to_who_speaks_something_else_moves_nothing(string answer)
    {
        using StrangePeer peer = new(answer);
        AssertRefused("MIGRATE", "127.0.0.1", peer.Port.ToString(CultureInfo.InvariantCulture), "k", "0", "5000");
    }

    [Test]
    public void Row_32_a_transaction_that_a_full_copy_overtakes_sees_one_state_or_is_refused()
    {
        using EmbeddedServer first = new(), second = new();
        using (var client = new TestClient(first.Server.Port)) client.Call("MSET", "a", "1", "b", "1");
        using (var client = new TestClient(second.Server.Port)) client.Call("MSET", "a", "2", "b", "2");
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(first.Server.Port);
        ReplicaGroup.CatchUp(replica, first);
        using TestClient reader = new(replica.Server.Port), admin = new(replica.Server.Port);
        var seen = new HashSet<string>();
        EmbeddedServer primary = first;
        for (int round = 0; round < 10; round++)
        {
            primary = primary == first ? second : first;
            reader.Call("MULTI");
            Assert.That(reader.Call("GET", "a"), Is.EqualTo("QUEUED").Or.StartWith("LOADING"));
            Assert.That(admin.Call("REPLICAOF", "127.0.0.1", primary.Server.Port.ToString(CultureInfo.InvariantCulture)), Is.EqualTo("OK"));
            Assert.That(reader.Call("GET", "b"), Is.EqualTo("QUEUED").Or.StartWith("LOADING"));
            string reply = reader.Call("EXEC");
            Assert.That(reply, Is.EqualTo("[1 1]").Or.EqualTo("[2 2]").Or.StartWith("EXECABORT").Or.StartWith("LOADING"));
            seen.Add(reply);
            // Both have histories of the same numbers: what is reached of the one says nothing of the other.
            string wanted = primary == first ? "1" : "2";
            Assert.That(() => reader.Call("GET", "b"), Is.EqualTo(wanted).After(ReplicaGroup.WaitMs, 5));
        }
        Assert.That(seen, Is.Not.Empty);
        ReplicaGroup.AssertSame(primary, replica);
    }

    private static IEnumerable<TestCaseData> Hellos()
    {
        string[] hello = ["REPL", "HELLO", "2", new string('b', 40), "1", "-", "0:0:", "0:0:"];
        (int Word, string Value, string Name)[] lies =
        [
            (2, "1", "the version before"), (2, "3", "another version"), (2, "", "no version"), (3, "b", "a short id"), (3, new string('b', 41), "a long id"), (4, "-1", "a negative port"),
            (4, "65536", "too large a port"), (4, "x", "no port"), (6, "1:2", "half a position"), (6, "1:2:zz", "no checksum"), (6, "-1:2:00000000", "a negative term"),
            (6, "1:99999999999999999999:0", "too large a batch"), (6, "1:1:" + string.Join(',', Enumerable.Repeat("0", 200)), "too many sublogs"), (7, "x", "no earlier position"),
        ];
        foreach ((int word, string value, string name) in lies)
            yield return new TestCaseData((object)(string[])[.. hello[..word], value, .. hello[(word + 1)..]]) { TestName = $"Row_54_a_greeting_that_is_none_is_refused({name})" };
        foreach ((string value, string name) in ((string, string)[])[("a b", "a space"), ("a\r\nrole:master", "lines"), ("\u001b[31m", "an escape"), ("", "nothing"), (new string('h', 5 << 20), "5 MiB")])
            yield return new TestCaseData((object)(string[])[.. hello[..5], value, .. hello[6..]]) { TestName = $"Row_55_an_address_that_is_none_is_refused({name})" };
    }

    [TestCaseSource(nameof(Hellos))]
    public void Row_54_a_greeting_that_is_none_is_refused(string[] hello) => AssertRefused(hello);

    [TestCase("a b")]
    [TestCase("host\r\nrole:master")]
    [TestCase("\u001b[31mred")]
    [TestCase("")]
    public void Row_55_names_of_hosts_hold_nothing_but_names(string host)
    {
        AssertRefused("REPLICAOF", host, "6379");
        AssertRefused("SLAVEOF", host, "6379");
        if (host.Length > 0) AssertRefused("CONFIG", "SET", "replica-announce-ip", host);
    }

    [Test]
    public void Row_55_a_host_of_5_MiB_is_refused()
    {
        AssertRefused("REPLICAOF", new string('h', 5 << 20), "6379");
        AssertRefused("CONFIG", "SET", "replica-announce-ip", new string('h', 5 << 20));
    }

    // Answered with an error; the connection stays, and the server is what it was.
    private static void AssertRefused(params string[] command)
    {
        using EmbeddedServer server = new();
        using TestClient client = new(server.Server.Port);
        client.Call("SET", "k", "v");
        Assert.That(client.Call(command), Does.Match("^(ERR|NOAUTH|NOPERM|[A-Z]+ )").And.Not.StartWith("OK"));
        Assert.That(client.Call("GET", "k"), Is.EqualTo("v"));
        Assert.That(client.Call("ROLE"), Does.StartWith("[master"));
        Assert.That(client.Call("CONFIG", "GET", "replica-announce-ip"), Is.EqualTo("[replica-announce-ip ]"));
        Assert.That(server.Server.Replication.Links.All, Is.Empty);
    }
}
