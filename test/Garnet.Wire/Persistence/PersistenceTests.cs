using Garnet.Server.Test;
using NUnit.Framework;

namespace Garnet.Wire.Persistence;

/// <summary>What an operator does with a data directory, seen from outside: restarts, snapshots, waits, figures.</summary>
[Parallelizable] // servers of its own
public sealed class PersistenceTests
{
    [Test]
    public void Data_of_every_database_survives_an_orderly_stop([Values("always", "everysec", "no")] string policy)
    {
        using DataServer server = new($"--appendfsync {policy}");
        using (RespConnection connection = server.Connect()) Fill(connection);
        server.Stop();
        server.Start();
        using RespConnection again = server.Connect();
        Check(again);
    }

    [Test]
    public void Data_survives_a_kill_after_a_snapshot_and_more_writes()
    {
        using DataServer server = new("--appendfsync always");
        using (RespConnection connection = server.Connect())
        {
            connection.Call("SET", "before", "1");
            Assert.That(connection.Call("SAVE").ToString(), Is.EqualTo("+OK"));
            Fill(connection);
            Assert.That(connection.Call("INCR", "before").ToString(), Is.EqualTo(":2"));
        }
        server.Kill();
        server.Start();
        using RespConnection again = server.Connect();
        Check(again);
        Assert.That(again.Call("GET", "before").Text, Is.EqualTo("2"));
    }

    [Test]
    public void A_damaged_log_ends_the_start_with_its_reason_and_exit_code()
    {
        using DataServer server = new("--appendfsync always");
        using (RespConnection connection = server.Connect())
        {
            for (int i = 0; i < 100; i++) connection.Call("SET", $"key {i}", "value");
        }
        server.Kill();
        string log = Directory.GetFiles(server.Path, "*.log", SearchOption.AllDirectories).Single(), damaged = "key 50";
        byte[] bytes = File.ReadAllBytes(log);
        bytes[bytes.AsSpan().IndexOf(System.Text.Encoding.ASCII.GetBytes(damaged))] ^= 1;
        File.WriteAllBytes(log, bytes);
        (int code, string said) = RefusedStart.Run(server.Path);
        Assert.That((code, said), Is.EqualTo((RefusedStart.Data, said)));
        Assert.That(said, Does.Contain("aof-on-corruption").And.Not.Contain("Unhandled"));
    }

    [Test]
    public void Without_a_log_save_points_keep_the_data_over_an_orderly_stop()
    {
        using DataServer server = new("--appendonly no --save \"3600 1000000\"");
        using (RespConnection connection = server.Connect()) connection.Call("SET", "k", "v");
        server.Terminate();
        server.Start();
        using (RespConnection connection = server.Connect())
        {
            Assert.That(connection.Call("GET", "k").Text, Is.EqualTo("v"));
            connection.Call("SET", "k", "w");
        }
        server.Stop(); // SHUTDOWN NOSAVE
        server.Start();
        using RespConnection again = server.Connect();
        Assert.That(again.Call("GET", "k").Text, Is.EqualTo("v"));
    }

    [Test]
    public void A_long_log_of_a_small_store_is_spared_the_next_start_by_a_snapshot()
    {
        using DataServer server = new("--appendfsync no --auto-aof-rewrite-percentage 0");
        string value = new('v', 1 << 20);
        using (RespConnection connection = server.Connect())
        {
            connection.Call("SET", "k", value);
            server.Terminate();
            server.Start();
        }
        using (RespConnection connection = server.Connect())
        {
            Assert.That(Snapshots(server), Is.Zero, "too little for a snapshot");
            for (int i = 0; i < 70; i++) connection.Call("SET", "k", value);
        }
        server.Terminate();
        server.Start();
        using RespConnection again = server.Connect();
        Assert.That(again.Call("STRLEN", "k").ToString(), Is.EqualTo(":1048576"));
        Assert.That(Snapshots(server), Is.EqualTo(1));
    }

    [Test]
    public void Flushes_and_swaps_stand_in_the_log_in_their_order()
    {
        using DataServer server = new("--appendfsync always");
        using (RespConnection connection = server.Connect())
        {
            connection.Call("SET", "gone", "1");
            connection.Call("FLUSHALL");
            connection.Call("SET", "a", "0");
            connection.Call("SELECT", "1");
            connection.Call("SET", "a", "1");
            connection.Call("SWAPDB", "0", "1");
            connection.Call("SET", "b", "now in 1");
            connection.Call("SELECT", "2");
            connection.Call("SET", "c", "2");
            connection.Call("FLUSHDB");
        }
        server.Kill();
        server.Start();
        using RespConnection again = server.Connect();
        Assert.That(again.Call("MGET", "gone", "a").ToString(), Is.EqualTo("[ $-1 \"1\" ]"), "database 0");
        Assert.That(again.Call("DBSIZE").ToString(), Is.EqualTo(":1"));
        again.Call("SELECT", "1");
        Assert.That(again.Call("MGET", "a", "b").ToString(), Is.EqualTo("[ \"0\" \"now in 1\" ]"));
        again.Call("SELECT", "2");
        Assert.That(again.Call("DBSIZE").ToString(), Is.EqualTo(":0"));
    }

    [Test]
    public void Waitaof_answers_when_the_changes_are_on_disk()
    {
        using DataServer server = new("--appendfsync everysec");
        using RespConnection connection = server.Connect();
        connection.Call("SET", "k", "v");
        Assert.That(connection.Call("WAITAOF", "1", "0", "0").ToString(), Is.EqualTo("[ :1 :0 ]"));
        Assert.That(connection.Call("WAITAOF", "0", "1", "1").ToString(), Does.EndWith(":0 ]"), "there are no replicas: the time runs out");
    }

    [Test]
    public void A_snapshot_in_the_background_is_told_by_info_and_lastsave()
    {
        using DataServer server = new();
        using RespConnection connection = server.Connect();
        Fill(connection);
        Assert.That(connection.Call("INFO", "persistence").Text, Does.Contain("aof_enabled:1").And.Contain("rdb_saves:0").And.Contain("garnet_aof_open_batch:"));
        Assert.That(connection.Call("BGSAVE").ToString(), Is.EqualTo("+Background saving started"));
        Eventually.Holds(() => !connection.Call("INFO", "persistence").Text.Contains("rdb_bgsave_in_progress:1", StringComparison.Ordinal));
        Assert.That(connection.Call("INFO", "persistence").Text, Does.Contain("rdb_saves:1").And.Contain("rdb_last_bgsave_status:ok"));
        Assert.That(connection.Call("BGREWRITEAOF").ToString(), Is.EqualTo("+Background append only file rewriting started"));
    }

    [Test]
    public void A_directory_in_use_is_refused_with_the_process_that_has_it()
    {
        using DataServer server = new();
        InvalidOperationException refused = Assert.Throws<InvalidOperationException>(() => ServerProcess.TryStartOurs($"--dir {server.Path} --appendonly yes"))!;
        Assert.That(refused.Message, Does.Contain("ended with code"));
        using RespConnection connection = server.Connect();
        Assert.That(connection.Call("PING").ToString(), Is.EqualTo("+PONG"));
    }

    [Test]
    public void A_directory_that_disappears_stops_writes_and_says_so_and_reads_go_on()
    {
        using DataServer server = new("--appendfsync always");
        using RespConnection connection = server.Connect();
        Assert.That(connection.Call("SET", "k", "before").ToString(), Is.EqualTo("+OK"));
        foreach (string file in Directory.EnumerateFiles(server.Path, "*", SearchOption.AllDirectories)) File.Delete(file);
        using (RespConnection writer = server.Connect())
            Assert.That(() => writer.Call("SET", "k", "after"), Throws.InstanceOf<IOException>(), "nothing is acknowledged that is nowhere");
        Assert.That(connection.Call("SET", "k", "again").Text, Does.StartWith("MISCONF").And.Contain("has been deleted"));
        Assert.That(connection.Call("GET", "k").Text, Is.EqualTo("after"));
        Assert.That(connection.Call("INFO", "persistence").Text, Does.Contain("aof_last_write_status:err").And.Contain("has been deleted"));
    }

    private static void Fill(RespConnection connection)
    {
        connection.Call("SET", "s", "text");
        connection.Call("SET", "big", new string('b', 300_000));
        connection.Call("SET", "dies", "x", "PX", "1");
        connection.Call("SET", "lives", "x", "EX", "100000");
        connection.Call("INCRBYFLOAT", "f", "1.5");
        connection.Call("MSET", "m1", "1", "m2", "2");
        connection.Call("RENAME", "m1", "m3");
        connection.Call("SELECT", "7");
        connection.Call("SET", "other", "seven");
        connection.Call("SELECT", "0");
    }

    private static int Snapshots(DataServer server) => Directory.GetFiles(server.Path, "*.snap", SearchOption.AllDirectories).Length;

    private static void Check(RespConnection connection)
    {
        Assert.That(connection.Call("GET", "s").Text, Is.EqualTo("text"));
        Assert.That(connection.Call("STRLEN", "big").ToString(), Is.EqualTo(":300000"));
        Assert.That(connection.Call("EXISTS", "dies", "m1").ToString(), Is.EqualTo(":0"));
        Assert.That(connection.Call("TTL", "lives").Text, Does.StartWith("99").Or.EqualTo("100000"));
        Assert.That(connection.Call("GET", "f").Text, Is.EqualTo("1.5"));
        Assert.That(connection.Call("MGET", "m2", "m3").ToString(), Is.EqualTo("[ \"2\" \"1\" ]"));
        connection.Call("SELECT", "7");
        Assert.That(connection.Call("GET", "other").Text, Is.EqualTo("seven"));
        connection.Call("SELECT", "0");
    }
}
