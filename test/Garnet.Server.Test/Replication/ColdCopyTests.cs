using System.Globalization;

namespace Garnet.Server.Test.Replication;

/// <summary>A full copy of a primary most of whose keys lie on its tier: it is whole, and what nobody reads stays there.</summary>
public sealed class ColdCopyTests
{
    private const int Keys = 1500, Fields = 3000;
    private string _path = "", _replicaPath = "";

    [SetUp]
    public void Make() => (_path, _replicaPath) = (Directory.CreateTempSubdirectory("garnet-cold").FullName, Directory.CreateTempSubdirectory("garnet-cold").FullName);

    [TearDown]
    public void Remove()
    {
        Directory.Delete(_path, recursive: true);
        Directory.Delete(_replicaPath, recursive: true);
    }

    [Test]
    public void A_full_copy_of_what_lies_on_the_tier_brings_nothing_of_it_to_memory()
    {
        using EmbeddedServer primary = new(adjust: settings => Tier(settings, _path));
        using TestClient client = new(primary.Server.Port);
        client.Pipeline(1, [.. Enumerable.Range(0, Keys).Select(static i => (string[])["SET", $"key:{i}", Value(i)])]);
        client.Call(["HSET", "hash", .. Enumerable.Range(0, Fields).SelectMany(static i => (string[])[$"field:{i}", Value(i)])]);
        client.Call(["RPUSH", "list", .. Enumerable.Range(0, Fields).Select(Value)]);
        string[] names = [.. Enumerable.Range(0, Keys).Select(static i => $"key:{i}"), "hash", "list"];
        client.Pipeline(1, [.. names.Select(static name => (string[])["TIER.DEMOTE", name])]);
        client.Call("HSET", "hash", "field:7", Value(7)); // half of it is in memory
        string before = Places(client);
        client.Call("TIER.RESET");
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port, settings => Tier(settings, _replicaPath));
        Assert.That(() => replica.Server.Replication.Role.Following is { IsUp: true }, Is.True.After(ReplicaGroup.WaitMs, 5));
        ReplicaGroup.CatchUp(replica, primary);
        Assert.That(Places(client), Is.EqualTo(before));
        string figures = client.Call("INFO", "tiering");
        Assert.That(figures, Does.Contain("tier_promoted_records:0\r").And.Contain("tier_returned_records:0\r").And.Not.Contain("tier_reads:0\r"));
        ReplicaGroup.AssertSame(primary, replica);
    }

    [Test]
    public void Reads_of_several_keys_on_a_replica_are_of_one_moment_though_they_lie_on_its_tier()
    {
        const int Rounds = 300, Together = 20;
        using EmbeddedServer primary = new();
        using EmbeddedServer replica = ReplicaGroup.ReplicaOf(primary.Server.Port, settings => Tier(settings, _replicaPath));
        using TestClient writer = new(primary.Server.Port), reader = new(replica.Server.Port), mover = new(replica.Server.Port);
        Assert.That(() => replica.Server.Replication.Role.Following is { IsUp: true }, Is.True.After(ReplicaGroup.WaitMs, 5));
        string[] keys = [.. Enumerable.Range(0, Together).Select(static i => $"key:{i}")];
        int last = 0, refused = 0;
        for (int round = 1; round <= Rounds; round++)
        {
            string value = Value(round);
            Assert.That(writer.Call(["MSET", .. keys.SelectMany(key => (string[])[key, value])]), Is.EqualTo("OK"));
            if (round % 10 == 0) // So that a replica that gets no processor for long has keys to move and to read.
                ReplicaGroup.CatchUp(replica, primary);

            mover.Pipeline(1, [.. keys.Where((_, i) => (i + round) % 3 != 0).Select(static key => (string[])["TIER.DEMOTE", key])]);
            // TRYAGAIN is what it says while a busy machine is a second behind in the middle of the batch.
            string reply;
            do reply = reader.Call(["MGET", .. keys]);
            while (reply.StartsWith("TRYAGAIN", StringComparison.Ordinal) && ++refused < Rounds);
            string[] seen = [.. reply.Trim('[', ']').Split(' ').Distinct()];
            Assert.That(seen, Has.Length.EqualTo(1), $"round {round}: {string.Join(", ", seen.Select(static one => one[..Math.Min(one.Length, 12)]))}");
            int number = seen[0] == "nil" ? 0 : int.Parse(seen[0].Split('.')[0], CultureInfo.InvariantCulture);
            Assert.That(number, Is.InRange(last, round), "never back");
            last = number;
        }

        ReplicaGroup.AssertSame(primary, replica);
        Assert.That(reader.Call("INFO", "tiering"), Does.Not.Contain("tier_reads:0\r").And.Not.Contain("tier_demoted_records:0\r"));
    }

    private static void Tier(ServerSettings settings, string path)
    {
        settings.Memory.MaxMemoryBytes = 64 << 20;
        (settings.Tier.Path, settings.Tier.SizeBytes) = (path, 64 << 20);
    }

    private static string Places(TestClient client) => string.Join('\n',
        client.Pipeline(1, [.. Enumerable.Range(0, Keys).Select(static i => (string[])["TIER.WHERE", $"key:{i}"]), ["TIER.WHERE", "hash"], ["TIER.WHERE", "list"]]));

    private static string Value(int number) => $"{number}.".PadRight(100, 'v');
}
