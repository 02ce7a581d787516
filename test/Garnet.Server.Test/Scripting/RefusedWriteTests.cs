using System.Globalization;
using Garnet.Aof;
using Garnet.Aof.Test.Writing;
using Garnet.Server.Test.Persistence;
using Tsavorite;

namespace Garnet.Server.Test.Scripting;

/// <summary>A write that is refused to a script is told to the operator like one that is refused to a client.</summary>
public sealed class RefusedWriteTests
{
    private const string Plain = "return redis.call('SET', KEYS[1], ARGV[1])";
    private const string Declared = "#!lua\n" + Plain;

    [TestCase(Plain)]
    [TestCase(Declared)]
    public void That_too_few_replicas_are_near_is_noted(string script)
    {
        using var server = new EmbeddedServer(adjust: static settings => settings.Replication.ReplicasToWrite = 1);
        Assert.That(server.Server.Refusals.Shown, Is.EqualTo("no"));
        Assert.That(Run(server, script, "v"), Does.StartWith("-NOREPLICAS Not enough good replicas to write."));
        Assert.That(server.Server.Refusals.Shown, Is.EqualTo("replicas"));
    }

    [TestCase(Plain)]
    [TestCase(Declared)]
    public void That_memory_is_used_up_is_noted(string script)
    {
        using var server = new EmbeddedServer(adjust: static settings =>
        {
            settings.Memory.MaxMemoryBytes = 16 << 20;
            settings.Memory.Policy = EvictionPolicy.NoEviction;
        });
        string answer = "", value = new('x', 256 * 1024);
        for (int i = 0; i < 1000 && !answer.StartsWith('-'); i++) answer = Run(server, script, value, i);
        Assert.That(answer, Does.StartWith("-OOM command not allowed when used memory > 'maxmemory'."));
        Assert.That(server.Server.Refusals.Shown, Is.EqualTo("memory"));
    }

    // What is kept free of so little memory is less than one script writes, and nothing is evicted while it runs.
    [Test]
    public void A_script_that_began_with_room_is_not_refused_on_the_way_where_keys_are_evicted([Values] bool isDeclared)
    {
        const string TenTimes = "for i = 1, 10 do redis.call('SET', KEYS[1] .. i, ARGV[1]) redis.call('APPEND', KEYS[1] .. i, ARGV[1]) end return 1";
        using var server = new EmbeddedServer(adjust: static settings =>
        {
            settings.Memory.MaxMemoryBytes = 8 << 20;
            settings.Memory.Policy = EvictionPolicy.AllKeysLru;
        });
        string value = new('x', 10_000);
        for (int i = 0; i < 300; i++) Assert.That(Run(server, isDeclared ? "#!lua\n" + TenTimes : TenTimes, value, i), Is.EqualTo(":1\r\n"), $"script {i}");
        Assert.That(server.Server.Store.Figures().EvictedKeys, Is.Positive);
    }

    [TestCase(Plain)]
    [TestCase(Declared)]
    public void That_the_log_cannot_be_written_is_answered_alike(string script)
    {
        var disk = new MemoryDisk();
        using EmbeddedServer server = KeeperTests.Start(disk);
        disk.OnSync = name => throw MemoryDisk.Broken("sync", name);
        using (var writer = server.Connect())
        {
            writer.GetStream().Write("SET k after\r\n"u8);
            Assert.That(writer.GetStream().Read(new byte[100]), Is.Zero);
        }

        Assert.That(Run(server, script, "v"), Does.StartWith("-MISCONF Errors writing to the AOF file: sync"));
        Assert.That(server.Server.Refusals.Shown, Is.EqualTo("log"));
    }

    private static string Run(EmbeddedServer server, string script, string value, int number = 0) => server.Send(
        string.Create(CultureInfo.InvariantCulture, $"*5\r\n$4\r\nEVAL\r\n${script.Length}\r\n{script}\r\n$1\r\n1\r\n$4\r\n{number:D4}\r\n${value.Length}\r\n{value}\r\n"), "\r\n");
}
