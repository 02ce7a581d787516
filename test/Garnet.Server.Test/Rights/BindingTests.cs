using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Garnet.Server.Rights;
using Garnet.Server.Test.Replication;

namespace Garnet.Server.Test.Rights;

/// <summary>Rights bind at once whoever is connected: in a transaction, a script, a wait, a subscription, on any reactor.</summary>
public sealed class BindingTests
{
    private EmbeddedServer _server = null!;
    private TestClient _admin = null!;

    [SetUp]
    public void SetUp()
    {
        _server = new EmbeddedServer();
        _admin = new TestClient(_server.Server.Port);
    }

    [TearDown]
    public void TearDown()
    {
        _admin.Dispose();
        _server.Dispose();
    }

    [Test]
    public void A_right_that_is_taken_away_is_gone_for_the_next_command_on_every_reactor()
    {
        const int Clients = 8, Rounds = 50;
        Set("ann on nopass +@all ~*");
        TestClient[] clients = [.. Enumerable.Range(0, Clients).Select(_ => As("ann"))];
        for (int i = 0; i < Rounds; i++)
        {
            Set(i % 2 == 0 ? "ann -get" : "ann +get");
            foreach (TestClient client in clients)
                Assert.That(client.Call("GET", "k"), i % 2 == 0 ? Does.StartWith("NOPERM") : Is.EqualTo("nil"), $"round {i}");
        }
        foreach (TestClient client in clients) client.Dispose();
    }

    [Test]
    public void Whoever_may_do_everything_again_is_a_plain_client_again()
    {
        Set("ann on nopass +@all ~* &*");
        using TestClient client = As("ann");
        Assert.That(Modes("ann"), Is.Zero);
        Set("ann -get");
        Assert.That(client.Call("SET", "a", "1"), Is.EqualTo("OK"));
        Assert.That(Modes("ann"), Is.EqualTo((int)Garnet.Server.Clients.ClientModes.Restricted));
        Set("ann +@all");
        Assert.That(client.Call("GET", "a"), Is.EqualTo("1"));
        Assert.That(Modes("ann"), Is.Zero);
    }

    [Test]
    public void A_transaction_that_takes_away_its_own_right_feels_it()
    {
        Set("ann on nopass +@all ~* &*");
        using TestClient client = As("ann");
        string[][] commands = [["MULTI"], ["SET", "a", "1"], ["ACL", "SETUSER", "ann", "-set"], ["SET", "a", "2"], ["GET", "a"]];
        foreach (string[] command in commands) client.Call(command);
        Assert.That(client.Call("EXEC"), Does.StartWith("[OK OK ").And.Contain("NOPERM").And.EndsWith("1]"));
    }

    [Test]
    public void A_right_is_asked_about_before_a_waiting_command_is_served()
    {
        Set("ann on nopass +@all ~here &*");
        using TestClient client = As("ann"), next = new(_server.Server.Port);
        client.Send("BLPOP", "here", "0");
        Eventually.Holds(() => _server.Server.Context.Clients().Count(static each => each.Parked) == 1);
        next.Send("BLPOP", "here", "0");
        Eventually.Holds(() => _server.Server.Context.Clients().Count(static each => each.Parked) == 2);
        Set("ann resetkeys ~there");
        Assert.That(_admin.Call("RPUSH", "here", "x"), Is.EqualTo("1"));
        Assert.That(client.Read(), Does.StartWith("NOPERM"));
        Assert.That(next.Read(), Is.EqualTo("[here x]"), "the next one gets it");
        Assert.That(client.Call("PING"), Is.EqualTo("PONG"));
    }

    [Test]
    public void Whose_user_is_removed_is_closed_wherever_he_is()
    {
        Set("ann on nopass +@all ~* &*");
        using TestClient waiting = As("ann"), listening = As("ann"), queuing = As("ann"), idle = As("ann");
        waiting.Send("BLPOP", "here", "0");
        listening.Call("SUBSCRIBE", "c");
        queuing.Call("MULTI");
        queuing.Call("SET", "a", "1");
        Eventually.Holds(() => _server.Server.Context.Clients().Count(static each => each.Parked) == 1);
        Assert.That(_admin.Call("ACL", "DELUSER", "ann"), Is.EqualTo("1"));
        Assert.That(_admin.Call("CLIENT", "LIST"), Does.Not.Contain("user=ann"));
        foreach (TestClient client in (TestClient[])[waiting, listening, queuing, idle])
            Assert.That(() => client.Read(), Throws.InstanceOf<IOException>());
        Assert.That(_admin.Call("EXISTS", "a"), Is.EqualTo("0"));
        Eventually.Holds(() => _server.Server.Context.ClientLimits.ClientCount == 2);
    }

    [Test]
    public void Who_removes_himself_gets_the_reply_and_nothing_more()
    {
        Set("ann on nopass +@all ~* &*");
        using TestClient client = As("ann");
        client.Send("ACL", "DELUSER", "ann");
        client.Send("SET", "a", "1");
        Assert.That(client.Read(), Is.EqualTo("1"));
        Assert.That(() => client.Read(), Throws.InstanceOf<IOException>());
        Assert.That(_admin.Call("EXISTS", "a"), Is.EqualTo("0"));
    }

    [Test]
    public void A_user_of_the_same_name_is_another_user()
    {
        Set("ann on nopass +@all ~* &*");
        using TestClient client = As("ann");
        _admin.Call("ACL", "DELUSER", "ann");
        Set("ann on nopass +@all ~* &*");
        Assert.That(() => client.Call("PING"), Throws.InstanceOf<IOException>());
    }

    [Test]
    public void Messages_of_a_channel_that_was_taken_away_do_not_arrive_even_in_one_batch()
    {
        Set("ann on nopass +@all ~* &*");
        using TestClient client = As("ann");
        client.Call("SUBSCRIBE", "c");
        string[] replies = _admin.Pipeline(1, ["PUBLISH", "c", "1"], ["ACL", "SETUSER", "ann", "resetchannels", "&d"], ["PUBLISH", "c", "2"]);
        Assert.That(replies, Is.EqualTo((string[])["1", "OK", "0"]));
        List<string> read = [];
        Assert.That(
            () =>
            {
                while (true) read.Add(client.Read());
            },
            Throws.InstanceOf<IOException>());
        Assert.That(read, Has.None.Contains("2]"));
    }

    [Test]
    public void Events_of_keys_need_the_right_to_their_channels()
    {
        _admin.Call("CONFIG", "SET", "notify-keyspace-events", "KEA");
        Set("ann on nopass +@all ~* &__keyspace@0__:mine*");
        using TestClient client = As("ann");
        Assert.That(client.Call("PSUBSCRIBE", "__key*"), Does.StartWith("NOPERM"));
        Assert.That(client.Call("SUBSCRIBE", "__keyspace@0__:other"), Does.StartWith("NOPERM"));
        Assert.That(client.Call("SUBSCRIBE", "__keyspace@0__:mine1"), Does.StartWith("[subscribe"));
    }

    [Test]
    public void A_client_that_tracks_is_asked_about_its_rights_like_any_other()
    {
        Set("ann on nopass +@all ~a* &*");
        using TestClient client = As("ann");
        client.Call("HELLO", "3");
        Assert.That(client.Call("CLIENT", "TRACKING", "ON"), Is.EqualTo("OK"));
        Assert.That(client.Call("GET", "b"), Does.StartWith("NOPERM"));
        Assert.That(client.Call("GET", "a"), Is.EqualTo("nil"));
    }

    [Test]
    public void Databases_are_asked_about_wherever_a_command_reaches_them()
    {
        Set("ann on nopass +@all ~* &* db=1,2");
        using TestClient client = As("ann");
        foreach (string refused in (string[])["GET a", "SET a 1", "DBSIZE", "KEYS *", "SCAN 0", "RANDOMKEY", "FLUSHDB", "FLUSHALL", "SELECT 3", "SWAPDB 1 3", "WATCH a", "MOVE a 1"])
            Assert.That(client.Call(refused.Split(' ')), Is.EqualTo("NOPERM No permissions to access database"), refused);
        foreach (string allowed in (string[])["PING", "PUBLISH c x", "SELECT 1", "SET a 1", "COPY a b DB 2", "MOVE b 2", "SWAPDB 1 2", "DBSIZE", "FLUSHDB"])
            Assert.That(client.Call(allowed.Split(' ')), Does.Not.StartWith("NOPERM"), allowed);
        client.Call("SET", "a", "1");
        Assert.That(client.Call("COPY", "a", "b", "DB", "3"), Does.StartWith("NOPERM"));
        Assert.That(client.Call("MOVE", "a", "0"), Does.StartWith("NOPERM"));
        Assert.That(client.Call("EVAL", "return redis.pcall('select', 0)", "0"), Does.Contain("can't access the database"));
        Assert.That(client.Call("EVAL", "redis.call('select', 2) return redis.pcall('set', 'a', 1)", "0"), Is.EqualTo("OK"));
        Assert.That(_admin.Call("ACL", "LOG", "1"), Does.Contain("reason database"));
    }

    [Test]
    public void The_log_of_refusals_says_which_database_it_was()
    {
        Set("ann on nopass +@all ~* &* db=1");
        using TestClient client = As("ann");
        foreach ((string command, string what) in new[] { ("GET a", "0"), ("SELECT 3", "3"), ("FLUSHALL", "flushall") })
        {
            client.Call(command.Split(' '));
            Assert.That(_admin.Call("ACL", "LOG", "1"), Does.Contain("reason database").And.Contain($"object {what} "), command);
        }
    }

    [Test]
    public void Who_may_read_every_key_of_one_database_only_sorts_by_keys_of_that()
    {
        Set("ann on nopass +select (+sort ~* db=1) (+sort ~a db=0)");
        using TestClient client = As("ann");
        Assert.That(client.Call("SORT", "a"), Is.EqualTo("[]"));
        Assert.That(client.Call("SORT", "a", "BY", "w_*"), Does.Contain("insufficient ACL permissions"));
        Assert.That(client.Call("SORT", "a", "GET", "w_*"), Does.Contain("insufficient ACL permissions"));
        Assert.That(client.Call("SELECT", "1"), Is.EqualTo("OK"));
        Assert.That(client.Call("SORT", "a", "BY", "w_*", "GET", "w_*"), Is.EqualTo("[]"));
    }

    [Test]
    public void In_a_transaction_the_database_is_the_one_that_it_will_have()
    {
        Set("ann on nopass +@all ~* &* db=1");
        using TestClient client = As("ann");
        foreach (string[] words in (string[][])[["MULTI"], ["SELECT", "1"], ["SET", "a", "1"]]) Assert.That(client.Call(words), Does.Not.StartWith("NOPERM"));
        Assert.That(client.Call("EXEC"), Is.EqualTo("[OK OK]"));
        client.Call("MULTI");
        Assert.That(client.Call("SELECT", "0"), Does.StartWith("NOPERM"));
        Assert.That(client.Call("EXEC"), Does.StartWith("EXECABORT"));
    }

    [Test]
    public void Selectors_may_differ_by_database()
    {
        Set("ann on nopass +ping (+@read +select ~* db=0,1) (+@write +select ~* db=1)");
        using TestClient client = As("ann");
        Assert.That(client.Call("SET", "a", "1"), Does.StartWith("NOPERM"));
        Assert.That(client.Call("GET", "a"), Is.EqualTo("nil"));
        Assert.That(client.Call("SELECT", "1"), Is.EqualTo("OK"));
        Assert.That(client.Call("SET", "a", "1"), Is.EqualTo("OK"));
        Assert.That(_admin.Call("ACL", "GETUSER", "ann"), Does.Contain("databases db=0,1").And.Contain("databases db=1"));
    }

    [Test]
    public void A_password_that_is_taken_away_leaves_none_whatever_there_was_before_it()
    {
        Set("default resetpass >mine");
        Assert.That(_admin.Call("CONFIG", "SET", "requirepass", "other"), Is.EqualTo("OK"));
        Assert.That(_admin.Call("CONFIG", "SET", "requirepass", ""), Is.EqualTo("OK"));
        using var client = new TestClient(_server.Server.Port);
        Assert.That(client.Call("PING"), Is.EqualTo("PONG"));
    }

    [Test]
    public void Who_has_tracked_is_asked_about_his_rights_as_before()
    {
        Set("ann on nopass +@all ~a*");
        using TestClient ann = As("ann");
        Assert.That(ann.Call("HELLO", "3"), Does.Contain("server"));
        Assert.That(ann.Call("CLIENT", "TRACKING", "ON"), Is.EqualTo("OK"));
        Assert.That(ann.Call("GET", "b"), Does.StartWith("NOPERM"));
        Assert.That(ann.Call("CLIENT", "TRACKING", "OFF"), Is.EqualTo("OK"));
        Assert.That(ann.Call("GET", "b"), Does.StartWith("NOPERM"));
        Assert.That(ann.Call("CLIENT", "TRACKING", "ON"), Is.EqualTo("OK"));
        Assert.That(ann.Call("GET", "b"), Does.StartWith("NOPERM"));
    }

    [Test]
    public void A_failed_change_of_settings_leaves_the_default_user_its_password()
    {
        Set("default resetpass >mine");
        Assert.That(_admin.Call("CONFIG", "SET", "requirepass", "other", "maxclients", "1000000000"), Does.StartWith("ERR"));
        using var client = new TestClient(_server.Server.Port);
        Assert.That(client.Call("PING"), Does.StartWith("NOAUTH"));
        Assert.That(client.Call("AUTH", "other"), Does.StartWith("WRONGPASS"));
        Assert.That(client.Call("AUTH", "mine"), Is.EqualTo("OK"));
    }

    [Test]
    public void What_was_refused_is_counted_in_INFO()
    {
        Set("ann on >pw +@all -flushall ~a &c db=0");
        using var client = new TestClient(_server.Server.Port);
        foreach (string command in (string[])["AUTH ann no", "AUTH ann pw", "FLUSHALL", "GET b", "PUBLISH d x", "SELECT 1"]) client.Call(command.Split(' '));
        string info = _admin.Call("INFO", "stats");
        foreach (string kind in (string[])["auth", "cmd", "key", "channel", "db"]) Assert.That(info, Does.Contain($"acl_access_denied_{kind}:1\r\n"));
        _admin.Call("CONFIG", "RESETSTAT");
        Assert.That(_admin.Call("INFO", "stats"), Does.Contain("acl_access_denied_key:0\r\n"));
    }

    [Test]
    public void A_replica_follows_as_a_user_who_may_do_nothing_else()
    {
        Set("link on >pw +repl");
        Set("default resetpass >other");
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(_server.Server.Port, settings =>
        {
            (settings.Replication.PrimaryUser, settings.Replication.PrimaryPassword) = ("link", "pw");
            settings.Security.Password = "mine";
        });
        Assert.That(_admin.Call("SET", "a", "1"), Is.EqualTo("OK"));
        ReplicaGroup.CatchUp(replica, _server);
        using var client = new TestClient(replica.Server.Port);
        Assert.That(client.Call("AUTH", "mine"), Is.EqualTo("OK"));
        Assert.That(client.Call("GET", "a"), Is.EqualTo("1"));
        Assert.That(client.Call("ACL", "USERS"), Is.EqualTo("[default]"), "users are not replicated");
        Assert.That(_admin.Call("ACL", "DELUSER", "link"), Is.EqualTo("1"));
        Eventually.Holds(() => _admin.Call("INFO", "replication").Contains("connected_slaves:0\r\n", StringComparison.Ordinal));
        Eventually.Holds(() => client.Call("INFO", "replication").Contains("master_link_status:down\r\n", StringComparison.Ordinal));
    }

    [Test]
    public void Who_takes_all_data_away_gets_no_more_when_his_user_is_removed()
    {
        Set("backup on nopass +sync +replconf");
        const int Values = 64;
        for (int i = 0; i < Values; i++) _admin.Call("SET", $"k{i}", new string('v', 1 << 20));
        using var backup = new TcpClient("127.0.0.1", _server.Server.Port) { ReceiveTimeout = 60_000 };
        NetworkStream stream = backup.GetStream();
        byte[] some = new byte[1 << 16];
        stream.Write("AUTH backup any\r\nREPLCONF CAPA EOF\r\n"u8);
        stream.ReadExactly(some, 0, 10);
        stream.Write("SYNC\r\n"u8);
        stream.ReadExactly(some); // it has begun, and more than the system's buffers hold is to come
        Assert.That(_admin.Call("ACL", "DELUSER", "backup"), Is.EqualTo("1"));
        long read = 0;
        for (int got = 1; got > 0; read += got) got = ReadOrEnd(stream, some);
        Assert.That(read, Is.LessThan((long)Values << 20));
    }

    [Test]
    public void A_key_is_migrated_as_the_user_that_the_command_names()
    {
        using var target = new EmbeddedServer();
        using var there = new TestClient(target.Server.Port);
        there.Call("ACL", "SETUSER", "mover", "on", ">pw", "+select", "+restore", "~a*");
        there.Call("ACL", "SETUSER", "default", "resetpass", ">other");
        string port = target.Server.Port.ToString(System.Globalization.CultureInfo.InvariantCulture);
        _admin.Call("SET", "a", "1");
        _admin.Call("SET", "b", "1");
        Assert.That(_admin.Call("MIGRATE", "127.0.0.1", port, "a", "0", "5000"), Does.Contain("NOAUTH"));
        Assert.That(_admin.Call("MIGRATE", "127.0.0.1", port, "a", "0", "5000", "AUTH2", "mover", "bad"), Does.Contain("WRONGPASS"));
        Assert.That(_admin.Call("MIGRATE", "127.0.0.1", port, "b", "0", "5000", "AUTH2", "mover", "pw"), Does.Contain("NOPERM"));
        Assert.That(_admin.Call("MIGRATE", "127.0.0.1", port, "a", "0", "5000", "AUTH2", "mover", "pw"), Is.EqualTo("OK"));
        Assert.That(_admin.Call("EXISTS", "a", "b"), Is.EqualTo("1"));
        Assert.That(there.Call("GET", "a"), Is.EqualTo("1"));
    }

    [TestCase("AUTH KEYS COPY")]
    [TestCase("AUTH2 mover KEYS COPY")]
    [TestCase("AUTH2 KEYS KEYS REPLACE")]
    public void A_password_that_is_a_word_of_MIGRATE_hides_no_key(string options)
    {
        Set("ann on nopass +@all ~a:*");
        string[] command = ["MIGRATE", "127.0.0.1", "1", "secret", "0", "1000", .. options.Split(' ')];
        Assert.That(_admin.Call(["ACL", "DRYRUN", "ann", .. command]), Does.Contain("'secret' key"));
        Assert.That(_admin.Call(["COMMAND", "GETKEYS", .. command]), Is.EqualTo("[secret]"));
        Assert.That(_admin.Call(["COMMAND", "GETKEYS", .. command[..3], "", .. command[4..], "KEYS", "x", "y"]), Is.EqualTo("[x y]"));
    }

    [Test]
    public void A_MIGRATE_that_is_refused_when_its_target_has_answered_leaves_nothing_for_the_next()
    {
        using var target = new TcpListener(IPAddress.Loopback, 0);
        target.Start();
        string port = ((IPEndPoint)target.LocalEndpoint).Port.ToString(CultureInfo.InvariantCulture);
        Set("ann on nopass +@all ~*");
        _admin.Call("SET", "k", "v");
        using TestClient ann = As("ann");
        string[] command = ["MIGRATE", "127.0.0.1", port, "k", "0", "60000"];
        ann.Send(command);
        using (Socket first = target.AcceptSocket())
        {
            first.Receive(new byte[4096]);
            Set("ann resetkeys");
            first.Send("+OK\r\n+OK\r\n"u8);
            Assert.That(ann.Read(), Does.StartWith("NOPERM"));
        }
        Set("ann ~*");
        ann.Send(command);
        using Socket second = target.AcceptSocket();
        second.Receive(new byte[4096]);
        second.Send("+OK\r\n+OK\r\n"u8);
        Assert.That(ann.Read(), Is.EqualTo("OK"));
        Assert.That(_admin.Call("EXISTS", "k"), Is.EqualTo("0"));
    }

    [Test]
    public void Keys_that_follow_from_data_need_a_selector_that_allows_the_command_too()
    {
        Set("ann on nopass +sort ~list (+get %R~*)");
        _admin.Call("RPUSH", "list", "2", "1");
        using TestClient ann = As("ann");
        Assert.That(ann.Call("SORT", "list"), Is.EqualTo("[1 2]"));
        Assert.That(ann.Call("SORT", "list", "BY", "w_*"), Does.StartWith("ERR BY option of SORT denied"));
        Set("ann (+sort ~list %R~*)");
        Assert.That(ann.Call("SORT", "list", "BY", "w_*"), Is.EqualTo("[1 2]"));
    }

    [Test]
    public void What_no_script_may_run_is_refused_for_that_whoever_asks()
    {
        Set("ann on nopass +eval ~*");
        using TestClient ann = As("ann");
        Assert.That(ann.Call("EVAL", "return redis.call('AUTH', 'x')", "0"), Does.StartWith("ERR This Redis command is not allowed from script"));
        Assert.That(_admin.Call("ACL", "LOG"), Is.EqualTo("[]"));
    }

    [TestCase("AUTH geheim")]
    [TestCase("HELLO 3 AUTH default geheim")]
    [TestCase("ACL SETUSER ann >geheim")]
    [TestCase("CONFIG SET masterauth geheim")]
    [TestCase("CONFIG SET maxmemory-samples 5 tls-key-file-pass geheim")]
    [TestCase("CONFIG SET masterauth a geheim b geheim")]
    [TestCase("CONFIG SET geheim requirepass")]
    [TestCase("CONFIG SET require pass geheim x")]
    [TestCase("HELLO 3 AUTH ann a geheim")]
    [TestCase("MIGRATE 127.0.0.1 1 k 0 100 AUTH my geheim")]
    [TestCase("ACL SETUSER >geheim on")]
    [TestCase("MIGRATE 127.0.0.1 1 k 0 100 AUTH2 ann geheim")]
    public void A_secret_stands_in_no_log_though_another_command_asks_about_it(string command)
    {
        _admin.Call("CONFIG", "SET", "slowlog-log-slower-than", "0");
        string[] askings = ["ACL DRYRUN default", "COMMAND GETKEYS", "COMMAND GETKEYSANDFLAGS", "ACL DRYRUN default COMMAND GETKEYS"];
        foreach (string asking in askings)
            _admin.Call([.. asking.Split(' '), .. command.Split(' ')]);
        Assert.That(_admin.Call("SLOWLOG", "GET", "-1"), Does.Contain("(redacted)").And.Not.Contain("geheim"));
    }

    [TestCase("ACL DRYRUN default HELLO AUTH default geheim")]
    [TestCase("COMMAND GETKEYS HELLO AUTH default geheim")]
    [TestCase("MIGRATE 127.0.0.1 1 k 0 AUTH geheim")]
    [TestCase("MIGRATE 127.0.0.1 1 k AUTH2 ann geheim")]
    [TestCase("MIGRATE AUTH geheim 127.0.0.1 1 k 0 1")]
    public void A_secret_stands_in_no_log_though_an_argument_before_it_was_forgotten(string command)
    {
        using TestClient monitor = As("default");
        _admin.Call("CONFIG", "SET", "slowlog-log-slower-than", "0");
        monitor.Call("MONITOR");
        _admin.Call(command.Split(' '));
        _admin.Call("PING");
        Assert.That(_admin.Call("SLOWLOG", "GET", "-1"), Does.Contain("(redacted)").And.Not.Contain("geheim"));
        for (string line = ""; !line.Contains("PING", StringComparison.Ordinal);) Assert.That(line = monitor.Read(), Does.Not.Contain("geheim"));
    }

    [Test]
    public void Who_may_only_write_is_told_nothing_of_a_value()
    {
        Set("ann on nopass +@all %W~*");
        _admin.Call("SET", "k", "v");
        using TestClient ann = As("ann");
        foreach (string command in (string[])["SET k x GET", "SET k x IFEQ v", "SET k x IFNE v", "DELEX k IFEQ v", "DELIFEQ k v", "GETSET k x", "GETDEL k"])
            Assert.That(ann.Call(command.Split(' ')), Does.StartWith("NOPERM"), command);
        Assert.That(ann.Call("SET", "k", "x"), Is.EqualTo("OK"));
        Assert.That(ann.Call("DELEX", "k"), Is.EqualTo("1"));
    }

    private static int ReadOrEnd(NetworkStream stream, byte[] to)
    {
        try
        {
            return stream.Read(to);
        }
        catch (IOException e) when (e.InnerException is SocketException { SocketErrorCode: SocketError.ConnectionReset })
        {
            return 0;
        }
    }

    private int Modes(string user) => (int)_server.Server.Context.Clients().Single(client => client.User?.Name == user).Modes;

    private void Set(string words) => Assert.That(_admin.Call(["ACL", "SETUSER", .. Joined(words)]), Is.EqualTo("OK"));

    private static List<string> Joined(string words)
    {
        Assert.That(RuleWords.TryJoin(words.Split(' '), out List<string> rules, out _));
        return rules;
    }

    private TestClient As(string user)
    {
        var client = new TestClient(_server.Server.Port);
        Assert.That(client.Call("AUTH", user, "any"), Is.EqualTo("OK"));
        return client;
    }
}
