using System.Globalization;
using Garnet.Common.Test;
using Garnet.Server.Test;
using NUnit.Framework;

namespace Garnet.Wire.Persistence;

/// <summary>
/// The server is killed at random moments under a mixed load and started again: everything acknowledged must be there, and
/// nothing that was not sent. GARNET_KILL_ROUNDS sets the rounds per policy (1,000 for a night), GARNET_KILL_SEED the seed.
/// </summary>
[Parallelizable(ParallelScope.All)] // servers of its own, each test
public sealed class KillLoopTests
{
    private const int Writers = 4;

    [TestCase("always")]
    [TestCase("everysec")]
    public void Nothing_acknowledged_is_lost_by_a_kill(string policy) => KillAndCheck($"--appendfsync {policy}", 7_411);

    /// <summary>
    /// As <c>always</c>, with the log's end in a file mapped as persistent memory would be: a kill takes nothing of that either. In memory the
    /// cores write to it themselves, at the same time, and to two files of the log.
    /// </summary>
    [Test]
    public void Nothing_that_only_the_ring_has_is_lost_by_a_kill([Values] bool inMemory)
    {
        using RingFile ring = new(inMemory);
        KillAndCheck($"--appendfsync always {ring.Flags} --aof-segment-size 1mb{(inMemory ? " --reactor-threads 2 --aof-sublogs 2" : "")}", 7_413);
    }

    [TestCase("everysec")]
    [LongCase("no")]
    public void Nothing_acknowledged_is_lost_by_a_kill_between_many_megabytes(string policy)
    {
        int rounds = LongRun.IsWanted ? 3 : 2;
        Random random = new(Number("GARNET_KILL_SEED", 7_412));
        using DataServer server = new($"--appendfsync {policy}");
        BulkWriter writer = new();
        for (int round = 0; round < rounds; round++)
        {
            long until = writer.Acknowledged + random.Next(1 << 20, 90 << 20) / BulkWriter.ValueBytes;
            Thread thread = new(() => writer.Run(server.Connect()));
            thread.Start();
            Eventually.Holds(() => writer.Acknowledged >= until || !server.Process.IsAlive);
            Assert.That(server.Process.IsAlive, "the server ended by itself");
            server.Kill();
            thread.Await();
            server.Start();
            using RespConnection connection = server.Connect();
            Assert.That(writer.Check(connection), Is.Null, $"round {round}");
        }
    }

    private static void KillAndCheck(string flags, int usualSeed)
    {
        int rounds = Number("GARNET_KILL_ROUNDS", LongRun.IsWanted ? 25 : 3), seed = Number("GARNET_KILL_SEED", usualSeed);
        TestContext.Out.WriteLine($"seed {seed}, {rounds} rounds");
        Random random = new(seed);
        using DataServer server = new(flags);
        KillWriter[] writers = [.. Enumerable.Range(0, Writers).Select(i => new KillWriter(i, seed + i))];
        for (int round = 0; round < rounds; round++)
        {
            Load(server, writers, random);
            server.Start();
            using RespConnection connection = server.Connect();
            foreach (KillWriter writer in writers)
                Assert.That(writer.Check(connection), Is.Null, $"round {round}, seed {seed}");
            if (random.Next(4) == 0) Assert.That(connection.Call("BGSAVE").Text, Does.StartWith("Background"));
        }
        Assert.That(writers.Sum(static writer => writer.Acknowledged), Is.GreaterThan(rounds * Writers), "the load ran");
    }

    // Kills when the writers together have had a random number of replies more.
    private static void Load(DataServer server, KillWriter[] writers, Random random)
    {
        long until = writers.Sum(static writer => writer.Acknowledged) + random.Next(20, 2000);
        Thread[] threads = [.. writers.Select(writer => new Thread(() => writer.Run(server.Connect())))];
        foreach (Thread thread in threads) thread.Start();
        Eventually.Holds(() => writers.Sum(static writer => writer.Acknowledged) >= until || !server.Process.IsAlive);
        Assert.That(server.Process.IsAlive, "the server ended by itself");
        server.Kill();
        foreach (Thread thread in threads) thread.Await();
    }

    private static int Number(string variable, int otherwise) =>
        int.TryParse(Environment.GetEnvironmentVariable(variable), NumberStyles.Integer, CultureInfo.InvariantCulture, out int value) ? value : otherwise;
}
