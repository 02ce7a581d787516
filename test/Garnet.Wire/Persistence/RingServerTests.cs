using NUnit.Framework;

namespace Garnet.Wire.Persistence;

/// <summary>A server whose log has a ring in (what is trusted as) persistent memory: what it says of itself, and what it refuses.</summary>
[Parallelizable] // servers of its own
internal sealed class RingServerTests
{
    [Test]
    public void INFO_says_what_an_acknowledged_change_outlives()
    {
        using RingFile ring = new();
        using DataServer server = new($"--appendfsync always {ring.Flags}");
        using RespConnection connection = server.Connect();
        Assert.That(connection.Call("SET", "k", "v").ToString(), Is.EqualTo("+OK"));
        Assert.That(connection.Call("WAITAOF", "1", "0", "0").Items![0].Text, Is.EqualTo("1"));
        string info = connection.Call("INFO", "persistence").Text!;
        Assert.That(info, Does.Contain("aof_durability:pm:").And.Contain("garnet_aof_ring_size:").And.Contain("garnet_aof_ring_used:"));
        connection.Call("CONFIG", "SET", "appendfsync", "everysec");
        Assert.That(connection.Call("INFO", "persistence").Text, Does.Contain("aof_durability:os"));
    }

    [TestCase("--appendonly no", "none")]
    [TestCase("--appendfsync everysec", "os")]
    [TestCase("--appendfsync always", "disk")]
    public void Without_a_ring_it_says_so_too(string flags, string expected)
    {
        using DataServer server = new(flags);
        using RespConnection connection = server.Connect();
        Assert.That(connection.Call("INFO", "persistence").Text, Does.Contain($"aof_durability:{expected}\r\n"));
    }

    [Test]
    public void Untrusted_memory_is_not_used_and_the_start_says_why_and_what_to_do()
    {
        using RingFile ring = new();
        using DataServer server = new($"--appendfsync always --aof-pm-path {ring.Path}");
        using RespConnection connection = server.Connect();
        if (connection.Call("INFO", "persistence").Text!.Contains("aof_durability:pm:", StringComparison.Ordinal)) Assert.Ignore("temporary files lie in persistent memory");
        Assert.That(connection.Call("INFO", "persistence").Text, Does.Contain("aof_durability:disk"));
        Assert.That(connection.Call("SET", "k", "v").ToString(), Is.EqualTo("+OK"));
    }

    [Test]
    public void The_end_of_the_log_is_missed_where_its_ring_is_not_and_is_there_again_with_it()
    {
        using RingFile ring = new();
        using DataServer server = new($"--appendfsync always {ring.Flags}");
        using (RespConnection connection = server.Connect()) Assert.That(connection.Call("SET", "k", "v").ToString(), Is.EqualTo("+OK"));
        server.Kill();
        foreach ((int code, string said) in ((int, string)[])[RefusedStart.Run(server.Path), RefusedStart.Check(server.Path)])
        {
            Assert.That((code, said), Is.EqualTo((RefusedStart.Data, said)));
            Assert.That(said, Does.Contain("aof-pm-path"));
        }
        server.Start();
        using (RespConnection again = server.Connect()) Assert.That(again.Call("GET", "k").Text, Is.EqualTo("v"));
        server.Stop();
        (int sound, string report) = RefusedStart.Check(server.Path);
        Assert.That(sound, Is.Zero, report); // after an orderly stop the directory is whole by itself
    }

    [Test]
    public void A_check_that_is_told_of_the_ring_puts_its_end_into_the_log()
    {
        const string Put = "persistent memory held were put into the log";
        const int TriesMax = 20;
        using RingFile ring = new();
        using DataServer server = new($"--appendfsync always {ring.Flags}");
        string said = KillAndCheck(server, ring);
        for (int tries = 1; tries < TriesMax && !said.Contains(Put, StringComparison.Ordinal); tries++)
        {
            server.Start(); // what the ring held was in the file before the kill: that takes some milliseconds only
            said = KillAndCheck(server, ring);
        }

        Assert.That(said, Does.Contain(Put));
    }

    [Test]
    public void A_check_that_is_told_of_the_ring_says_what_is_damaged_in_it()
    {
        const int Heads = 4096, HeadCopy = 1024, Line = 64;
        using RingFile ring = new();
        using DataServer server = new($"--appendfsync always {ring.Flags}");
        KillWhileItWrites(server);
        byte[] damaged = File.ReadAllBytes(ring.Path);
        for (int i = 0; i < Line; i++) (damaged[Heads + i], damaged[Heads + HeadCopy + i]) = (7, 7);
        File.WriteAllBytes(ring.Path, damaged);
        (int code, string said) = RefusedStart.RunWith("check", server.Path, "--aof-pm-path", ring.Path);
        Assert.That(code, Is.EqualTo(RefusedStart.Data), said);
        Assert.That(said, Does.Contain("Put the file back as it was; nothing was changed"));
        Assert.That(File.ReadAllBytes(ring.Path), Is.EqualTo(damaged));
        Assert.That(RefusedStart.RunWith("repair", server.Path, "--apply").Code, Is.Zero, "without it, at the price of what it held");
    }

    [Test]
    public void A_ring_that_another_server_uses_is_not_taken()
    {
        using RingFile ring = new();
        using DataServer server = new($"--appendfsync always {ring.Flags}");
        (int code, string said) = RunWith(ring);
        Assert.That(code, Is.Not.Zero);
        Assert.That(said, Does.Contain("another server has it in use").And.Contain("a file of its own"));
        using RespConnection connection = server.Connect();
        Assert.That(connection.Call("SET", "k", "v").ToString(), Is.EqualTo("+OK"));
    }

    [TestCase("/nowhere/at/all", "fallocate -l")]
    [TestCase("/proc/version", "aof-pm-path cannot be used")]
    public void What_cannot_be_used_is_refused_with_what_to_do(string path, string expected)
    {
        DirectoryInfo directory = Directory.CreateTempSubdirectory("garnet-data-");
        try
        {
            (int code, string said) = RefusedStart.RunWith("--port", "0", "--unixsocket", Path.Combine(directory.FullName, "socket"), "--dir", directory.FullName, "--aof-pm-path", path);
            Assert.That(code, Is.Not.Zero, said);
            Assert.That(said, Does.Contain(expected));
        }
        finally
        {
            directory.Delete(recursive: true);
        }
    }

    private static string KillAndCheck(DataServer server, RingFile ring)
    {
        KillWhileItWrites(server);
        (int code, string said) = RefusedStart.RunWith("check", server.Path, "--aof-pm-path", ring.Path);
        Assert.That(code, Is.Zero, said);
        return said;
    }

    private static void KillWhileItWrites(DataServer server)
    {
        using RespConnection connection = server.Connect();
        using ManualResetEventSlim written = new();
        Thread writer = new(() =>
        {
            try
            {
                for (; ; written.Set()) connection.Call("SET", "k", "v");
            }
            catch (Exception e) when (e is IOException or System.Net.Sockets.SocketException)
            {
                // the server is gone
            }
        });
        writer.Start();
        Assert.That(written.Wait(TimeSpan.FromSeconds(30)), Is.True, "it answers");
        server.Kill();
        Assert.That(writer.Join(TimeSpan.FromSeconds(30)), Is.True, "the connection has ended");
    }

    private static (int Code, string Said) RunWith(RingFile ring)
    {
        DirectoryInfo directory = Directory.CreateTempSubdirectory("garnet-data-");
        try
        {
            return RefusedStart.RunWith("--port", "0", "--unixsocket", Path.Combine(directory.FullName, "socket"), "--dir", directory.FullName, "--appendfsync", "always",
                "--aof-pm-path", ring.Path, "--pm-emulated-trust", "yes");
        }
        finally
        {
            directory.Delete(recursive: true);
        }
    }
}
