using System.Diagnostics;
using System.Globalization;
using Garnet.Aof;
using Garnet.Aof.Test.Writing;
using Garnet.Common.Test.Resp;
using Tsavorite;

namespace Garnet.Server.Test.Replication;

/// <summary>
/// A peer that speaks the protocol and lies in any field, to a primary and to a replica at once: both stay up, the primary keeps its data,
/// and a replica that has heard lies has the primary's data as soon as nobody lies to it any more.
/// </summary>
public sealed class LyingPeerTests
{
    private const int Writes = 40;

    [Test]
    public void Who_lies_in_any_field_of_any_frame_harms_nobody_for_long()
    {
        TestContext.Out.WriteLine($"GARNET_FUZZ_SEED={FuzzStream.Seed}");
        var random = new Random(FuzzStream.Seed);
        int rounds = 0, lies = 0;
        for (long began = Stopwatch.GetTimestamp(); rounds < 3 || Stopwatch.GetElapsedTime(began).TotalSeconds < FuzzStream.Seconds; rounds++) lies += Round(random);
        TestContext.Out.WriteLine($"{rounds} rounds, {lies} lies");
        Assert.That(lies, Is.Positive);
    }

    private static int Round(Random random)
    {
        using EmbeddedServer primary = Start(random), replica = Start(random);
        using TestClient writer = new(primary.Server.Port), reader = new(replica.Server.Port);
        string[] keys = ["string", "list", "set", "hash", "sorted", "stream"];
        for (int i = 0; i < Writes; i++) Write(writer, random);
        using var proxy = new LyingProxy(primary.Server.Port, new Random(random.Next()));
        Assert.That(reader.Call("REPLICAOF", "127.0.0.1", proxy.Port.ToString(CultureInfo.InvariantCulture)), Is.EqualTo("OK"));
        for (int i = 0; i < Writes; i++)
        {
            Write(writer, random);
            if (i % 4 == 0) Assert.That(int.Parse(writer.Call("WAIT", "1", "20"), CultureInfo.InvariantCulture), Is.InRange(0, 1));
            reader.Call(["EXISTS", .. keys]);
            reader.Call("INFO", "replication");
        }
        Assert.That(writer.Call("PING"), Is.EqualTo("PONG"));
        Assert.That(reader.Call("PING"), Is.EqualTo("PONG").Or.StartWith("LOADING"));
        Assert.That(reader.Call("REPLICAOF", "127.0.0.1", primary.Server.Port.ToString(CultureInfo.InvariantCulture)), Is.EqualTo("OK"));
        ReplicaGroup.AssertSame(primary, replica);
        Assert.That(StoreCheck.Run(primary.Server.Store), Is.Empty);
        return proxy.Lies;
    }

    private static EmbeddedServer Start(Random random)
    {
        DataDirectory? directory = random.Next(2) == 0 ? DataDirectory.OpenUnlocked(new MemoryDisk()) : null;
        var server = new EmbeddedServer(directory: directory);
        Assert.That(server.Server.Loaded.Wait(ReplicaGroup.WaitMs));
        return server;
    }

    private static void Write(TestClient client, Random random)
    {
        string number = random.Next(1000).ToString(CultureInfo.InvariantCulture), value = new('v', random.Next(200));
        string[][] writes =
        [
            ["SET", "string", value + number], ["RPUSH", "list", value, number], ["SADD", "set", number], ["HSET", "hash", number, value], ["ZADD", "sorted", number, number],
            ["XADD", "stream", "*", "field", value], ["SET", "other" + number, value], ["DEL", "other" + number], ["HSETEX", "hash", "PX", "1000000", "FIELDS", "1", number, value],
        ];
        client.Call(writes[random.Next(writes.Length)]);
    }
}
