using System.Globalization;
using System.Net.Sockets;
using System.Text;
using Garnet.Common.Test;
using Garnet.Server.Test;
using Garnet.Wire.Clients;
using NUnit.Framework;

namespace Garnet.Wire.Rdb;

/// <summary>What redis-cli --rdb takes from us is an RDB file of one moment, which a redis-server loads.</summary>
[Parallelizable] // its servers are its own
internal sealed class ExportTests
{
    private static readonly int[] Sizes = [1, 5, 600, 20_000];
    private DirectoryInfo _folder = null!;

    [SetUp]
    public void MakeFolder() => _folder = Directory.CreateTempSubdirectory("garnet-export-");

    [TearDown]
    public void RemoveFolder() => _folder.Delete(recursive: true);

    [LongCase("")]
    [TestCase("--appendonly yes --dir .")]
    public void A_redis_server_loads_all_of_it(string flags)
    {
        using ServerProcess server = Ours(flags);
        using RespConnection ours = new(server.Address);
        var wanted = new Dictionary<string, string>();
        foreach ((string kind, int size) in Values.Kinds.SelectMany(static kind => Sizes.Select(size => (kind, size))))
        {
            ours.Call("SELECT", $"{size % 3}");
            Values.Fill(ours, $"{kind} {size}", kind, size);
            wanted.Add($"{kind} {size}", Values.Digest(ours, $"{kind} {size}"));
        }
        ours.Call("SELECT", "0");
        ours.Call("PEXPIREAT", "hash 600", "4000000000000");
        ours.Call("SWAPDB", "0", "1");
        ours.Call("FUNCTION", "LOAD", "#!lua name=sums\nredis.register_function('twice', function(keys, args) return args[1] * 2 end)");
        Export(server);
        using ServerProcess redis = Redis();
        using RespConnection theirs = new(redis.Address);
        foreach ((string key, string digest) in wanted)
        {
            int database = int.Parse(key.Split(' ')[^1], CultureInfo.InvariantCulture) % 3;
            theirs.Call("SELECT", $"{(database == 2 ? 2 : 1 - database)}");
            Assert.That(Values.Digest(theirs, key), Is.EqualTo(digest), key);
        }
        theirs.Call("SELECT", "1");
        Assert.That(theirs.Call("PEXPIRETIME", "hash 600").Text, Is.EqualTo("4000000000000"));
        Assert.That(theirs.Call("PEXPIRETIME", "list 600").Text, Is.EqualTo("-1"));
        Assert.That(theirs.Call("FCALL", "twice", "0", "21").ToString(), Is.EqualTo(":42"));
    }

    [Test]
    public void It_is_of_one_moment_while_writers_go_on()
    {
        using ServerProcess server = Ours("");
        using RespConnection ours = new(server.Address), other = new(server.Address);
        for (int i = 0; i < 40; i++) Values.Fill(ours, $"hash {i}", "hash", 3000);
        var stop = new CancellationTokenSource();
        Task<int> writer = Task.Run(() =>
        {
            int rounds = 0;
            for (; !stop.IsCancellationRequested; rounds++)
            {
                other.Send(RespConnection.Encode("MULTI"));
                for (int i = 0; i < 40; i++) other.Send(RespConnection.Encode("HSET", $"hash {i}", "field 7", $"{rounds}"));
                other.Send(RespConnection.Encode("SET", "round", $"{rounds}"));
                other.Send(RespConnection.Encode("EXEC"));
                for (int i = 0; i < 43; i++) other.Read();
            }
            return rounds;
        });
        Eventually.Holds(() => ours.Call("EXISTS", "round").ToString() == ":1");
        for (int times = 0; times < 3; times++)
        {
            Export(server);
            using ServerProcess redis = Redis();
            using RespConnection theirs = new(redis.Address);
            string round = theirs.Call("GET", "round").Text;
            for (int i = 0; i < 40; i++) Assert.That((theirs.Call("HGET", $"hash {i}", "field 7").Text, theirs.Call("HLEN", $"hash {i}").Text), Is.EqualTo((round, "3000")), $"hash {i}");
        }
        stop.Cancel();
        Assert.That(writer.InTime(), Is.Positive);
    }

    [Test]
    public void Times_of_fields_are_kept_where_the_version_can_hold_them([Values("10", "12")] string version)
    {
        using ServerProcess server = Ours($"--rdb-export-version {version}");
        using RespConnection ours = new(server.Address);
        ours.Call("HSET", "h", "f", "v", "g", "w");
        ours.Call("HPEXPIREAT", "h", "4000000000000", "FIELDS", "1", "f");
        Export(server);
        using ServerProcess again = Ours($"--dir {_folder.FullName}");
        using RespConnection copy = new(again.Address);
        Assert.That(copy.Call("HMGET", "h", "f", "g").ToString(), Is.EqualTo("[ \"v\" \"w\" ]"));
        Assert.That(copy.Call("HPEXPIRETIME", "h", "FIELDS", "2", "f", "g").ToString(), Is.EqualTo(version == "12" ? "[ :4000000000000 :-1 ]" : "[ :-1 :-1 ]"));
    }

    [Test]
    public void Members_that_expire_are_sent_without_their_times_unless_they_are_due()
    {
        using ServerProcess server = Ours("");
        using RespConnection ours = new(server.Address);
        ours.Call("DEBUG", "SET-ACTIVE-EXPIRE", "0");
        ours.Call("ZADD", "z", "1", "a", "2", "b", "3", "c");
        ours.Call("ZPEXPIREAT", "z", "4000000000000", "MEMBERS", "1", "a");
        ours.Call("ZADD", "over", "1", "x");
        ours.Call("EXPIRE", "over", "1000");
        ours.Call("ZPEXPIRE", "z", "1", "MEMBERS", "1", "b");
        ours.Call("ZPEXPIRE", "over", "1", "MEMBERS", "1", "x");
        Assert.That(() => ours.Call("ZCARD", "over").ToString(), Is.EqualTo(":0").After(60_000, 1));
        Assert.That(ours.Call("DBSIZE").ToString(), Is.EqualTo(":2"), "hidden, and not removed");
        Export(server);
        using ServerProcess redis = Redis();
        using RespConnection theirs = new(redis.Address);
        Assert.That(theirs.Call("KEYS", "*").ToString(), Is.EqualTo("[ \"z\" ]"));
        Assert.That(theirs.Call("ZRANGE", "z", "0", "-1", "WITHSCORES").ToString(), Is.EqualTo("[ \"a\" \"1\" \"c\" \"3\" ]"));
        Assert.That(theirs.Call("TTL", "z").ToString(), Is.EqualTo(":-1"));
    }

    [Test]
    public void Only_functions_are_sent_when_only_they_are_asked_for()
    {
        using ServerProcess server = Ours("");
        using RespConnection ours = new(server.Address);
        ours.Call("SET", "k", "v");
        ours.Call("FUNCTION", "LOAD", "#!lua name=sums\nredis.register_function('twice', function(keys, args) return args[1] * 2 end)");
        Export(server, "--functions-rdb");
        using ServerProcess redis = Redis();
        using RespConnection theirs = new(redis.Address);
        Assert.That(theirs.Call("DBSIZE").ToString(), Is.EqualTo(":0"));
        Assert.That(theirs.Call("FCALL", "twice", "0", "4").ToString(), Is.EqualTo(":8"));
    }

    [Test]
    public void A_reader_that_takes_nothing_stops_no_writer_and_gets_no_mark()
    {
        const int Values = 60;
        using ServerProcess server = Ours("--repl-timeout 1 --client-output-buffer-limit \"replica 2mb 2mb 60\"");
        using RespConnection ours = new(server.Address);
        string value = new('v', 1 << 20);
        for (int i = 0; i < Values; i++) ours.Call("SET", $"k{i}", value);
        using Socket reader = new(SocketType.Stream, ProtocolType.Tcp) { ReceiveBufferSize = 64 << 10, ReceiveTimeout = 30_000 };
        reader.Connect(server.Address);
        reader.Send("REPLCONF capa eof\r\n"u8);
        byte[] bytes = new byte[1 << 16];
        Assert.That(Encoding.ASCII.GetString(bytes, 0, reader.Receive(bytes)), Is.EqualTo("+OK\r\n"));
        reader.Send("SYNC\r\n"u8);
        Assert.That(reader.Receive(bytes, 1, SocketFlags.None), Is.EqualTo(1));
        for (int i = 0; i < Values; i++) Assert.That(ours.Call("SET", $"k{i}", $"{value}{i}").ToString(), Is.EqualTo("+OK"));
        var all = new MemoryStream();
        all.Write(bytes, 0, 1);
        try
        {
            for (int got; (got = reader.Receive(bytes)) > 0;) all.Write(bytes, 0, got);
        }
        catch (SocketException e) when (e.SocketErrorCode == SocketError.ConnectionReset)
        {
            TestContext.Out.WriteLine("reset"); // as good an end as any
        }
        string text = Encoding.Latin1.GetString(all.ToArray());
        Assert.That(text, Does.StartWith("$EOF:"));
        Assert.That(text, Does.Not.EndWith(text[5..45]));
        Assert.That(ours.Call("GET", "k7").Text, Has.Length.EqualTo(value.Length + 1));
    }

    [Test]
    public void A_Redis_that_wants_to_follow_is_refused_and_keeps_what_it_has()
    {
        using ServerProcess redis = Redis();
        using ServerProcess server = Ours("");
        using RespConnection theirs = new(redis.Address), ours = new(server.Address);
        theirs.Call("SET", "mine", "1");
        ours.Call("SET", "ours", "1");
        theirs.Call("REPLICAOF", "127.0.0.1", $"{server.Address.Port}");
        Eventually.Holds(() => File.ReadAllText(Path.Combine(_folder.FullName, "log")).Contains("a Redis cannot be its replica", StringComparison.Ordinal));
        Assert.That(theirs.Call("INFO", "replication").Text, Does.Contain("master_link_status:down"));
        theirs.Call("REPLICAOF", "NO", "ONE");
        Assert.That(theirs.Call("GET", "mine").Text, Is.EqualTo("1"));
        Assert.That(theirs.Call("EXISTS", "ours").ToString(), Is.EqualTo(":0"));
    }

    private void Export(ServerProcess from, string way = "--rdb")
    {
        string file = Path.Combine(_folder.FullName, "dump.rdb");
        ClientRun run = ClientRun.Of(ClientRun.Find("redis-cli"), ["-p", $"{from.Address.Port}", way, file]);
        Assert.That(run.Code, Is.Zero, run.Errors);
        Assert.That(run.Errors, Does.Contain("Transfer finished with success"));
    }

    private static ServerProcess Ours(string flags)
    {
        _ = Servers.Ours; // skips with the reason when it is not there
        return ServerProcess.TryStartOurs(flags) ?? throw new IgnoreException("our server is not built");
    }

    private ServerProcess Redis()
    {
        _ = Servers.Redis; // skips with the reason when it is not there
        return ServerProcess.TryStartRedis($"--dir {_folder.FullName} --logfile {Path.Combine(_folder.FullName, "log")}") ?? throw new IgnoreException("redis-server is not installed");
    }
}
