
namespace Garnet.Server.Test.Replication;

/// <summary>What scripts change is one batch, as what it came to and not as what was asked.</summary>
public sealed class ScriptOnReplicaTests
{
    private const int Keys = 12, Runs = 400, Looks = 2000, SeenMin = 10;

    // Random choices and the time of the server, the same value in all keys; some by way of what another call returned.
    private const string Script = """
        local t = redis.call('TIME')
        local v = t[1] .. '.' .. t[2] .. '.' .. math.random(1000000000)
        for i = 1, #KEYS do redis.call('SET', KEYS[i], v) end
        redis.call('SADD', 'seen', v)
        redis.call('HSET', 'random', redis.call('SRANDMEMBER', 'seen'), v)
        if math.random(10) == 1 then redis.call('SPOP', 'seen') end
        redis.call('SET', 'soon', v, 'PX', 100000 + math.random(1000))
        return v
        """;

    [Test]
    public void Replicas_have_the_effects_of_scripts_with_random_and_time_and_never_show_half_of_one([Values(1, 3)] int applyThreads)
    {
        using EmbeddedServer primary = new();
        using EmbeddedServer one = ReplicaGroup.ReplicaOf(primary.Server.Port, Settings), two = ReplicaGroup.ReplicaOf(primary.Server.Port, Settings);
        string[] keys = [.. Enumerable.Range(0, Keys).Select(static i => $"key{i}")];
        using (var client = new TestClient(primary.Server.Port)) client.Call(["EVAL", Script, $"{Keys}", .. keys]);
        ReplicaGroup.CatchUp(one, primary);
        ReplicaGroup.CatchUp(two, primary);
        bool enough = false; // a reader that comes to run late has something to look at all the same
        TestThread[] writers = TestThread.Begin(2, _ => Write(primary, keys, () => Volatile.Read(ref enough)));
        var distinct = new HashSet<string>();
        using (TestClient first = new(one.Server.Port), second = new(two.Server.Port))
        {
            for (int i = 0; i < Looks || Array.Exists(writers, static writer => writer.IsAlive); i++)
            {
                string[] values = (i % 2 == 0 ? first : second).Call(["MGET", .. keys]).Trim('[', ']').Split(' ');
                Assert.That(values.Distinct().Count(), Is.EqualTo(1), "half of a script");
                distinct.Add(values[0]);
                Volatile.Write(ref enough, distinct.Count > SeenMin);
            }
        }
        TestThread.Join(writers);
        Assert.That(distinct, Has.Count.GreaterThan(SeenMin), "it was looked at while scripts ran");
        ReplicaGroup.AssertSame(primary, one, two);

        void Settings(ServerSettings settings)
        {
            settings.Replication.ApplyThreads = applyThreads;
            settings.Replication.ReadWaitMs = 10_000;
        }
    }

    private static void Write(EmbeddedServer primary, string[] keys, Func<bool> enough)
    {
        using var client = new TestClient(primary.Server.Port);
        for (int i = 0; i < Runs || (!enough() && i < Runs * 100); i++) client.Call(["EVAL", Script, $"{keys.Length}", .. keys]);
    }
}
