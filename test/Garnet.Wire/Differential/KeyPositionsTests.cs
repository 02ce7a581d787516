using NUnit.Framework;

namespace Garnet.Wire.Differential;

/// <summary>Which arguments are keys, and what for, is asked of both servers for random arguments of every command that redis-server has.</summary>
[TestFixture]
internal sealed class KeyPositionsTests
{
    private const int CallsPerCommand = 100, ArgumentsMax = 9, Seed = 20_261_123;

    private static readonly string[] Words =
    [
        "k", "0", "1", "2", "3", "-1", "x", "", "9999999999999", "STORE", "STOREDIST", "GET", "SET", "INCRBY", "BY", "LIMIT", "KEYS", "STREAMS", "WEIGHTS", "COUNT", "EX", "REPLACE",
        "WITHSCORES", "GROUP",
    ];

    // Newer ones take more arguments; and PFMERGE of one key runs in redis-server too, which says here that it has none.
    private static readonly HashSet<string> Otherwise = ["zrank", "zrevrank", "pfmerge"];

    [Test]
    public void Keys_and_their_uses_are_those_that_redis_names()
    {
        using RespConnection ours = new(Servers.Ours.Address), redis = new(Servers.Redis.Address);
        var random = new Random(Seed);
        List<string> differences = [];
        int withKeys = 0;
        foreach (string name in Names(redis).Where(static name => !Otherwise.Contains(name)))
        {
            for (int i = 0; i < CallsPerCommand; i++)
            {
                string[] command = ["COMMAND", "GETKEYSANDFLAGS", .. name.Split('|'), .. Enumerable.Range(0, random.Next(ArgumentsMax + 1)).Select(_ => Words[random.Next(Words.Length)])];
                // Of several the last one counts. redis-server names them all, or takes the name of a key for an option.
                if (command.Count(static word => word is "STORE" or "STOREDIST") > 1) continue;
                // What stands behind these is their value. redis-server takes it for the word that it looks for, and looks for GROUP nowhere but in front.
                if (name is "xread" or "xreadgroup" && command.Any(static word => word is "COUNT" or "GROUP")) continue;
                string own = ours.Call(command).ToString(), theirs = redis.Call(command).ToString();
                bool bothRefuse = own.StartsWith('-') && theirs.StartsWith('-');
                withKeys += bothRefuse ? 0 : 1;
                if (!bothRefuse && own != theirs) differences.Add($"{string.Join(' ', command)}\n ours  {own}\n redis {theirs}");
            }
        }
        Assert.That(differences, Is.Empty);
        Assert.That(withKeys, Is.GreaterThan(5000), "most commands have keys");
    }

    private static List<string> Names(RespConnection redis)
    {
        List<string> names = [];
        foreach (RespNode name in redis.Call("COMMAND", "LIST").Items!) names.Add(name.Text);
        names.AddRange(names.ToList().SelectMany(name => redis.Call("COMMAND", "LIST", "FILTERBY", "PATTERN", name + "|*").Items!.Select(static child => child.Text)));
        names.Sort(StringComparer.Ordinal);
        return names;
    }
}
