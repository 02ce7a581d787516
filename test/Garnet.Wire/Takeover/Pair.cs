using NUnit.Framework;

namespace Garnet.Wire.Takeover;

/// <summary>A redis-server and ours, and what clients do to the first that shows when it is done twice or not at all.</summary>
internal sealed class Pair : IDisposable
{
    private const int Rounds = 20;

    public Pair(string redisFlags = "", string ourFlags = "")
    {
        Redis = ServerProcess.TryStartRedis($"--repl-diskless-sync-delay 0 --repl-backlog-size 512mb {redisFlags}") ?? throw new IgnoreException("redis-server is not installed");
        Ours = ServerProcess.TryStartOurs($"--databases 16 {ourFlags}") ?? throw new IgnoreException("our server is not built");
        (At, Other) = (new RespConnection(Redis.Address), new RespConnection(Ours.Address));
    }

    public ServerProcess Redis { get; }

    public ServerProcess Ours { get; }

    /// <summary>To redis-server.</summary>
    public RespConnection At { get; }

    /// <summary>To ours.</summary>
    public RespConnection Other { get; }

    public (int Code, string Said) Migrate(params string[] options) => Migration.Run(Redis.Address, Ours.Address, options);

    /// <summary>Counters, lists and texts that grow, in two databases, alone and in transactions and scripts, until it is so.</summary>
    public void WriteUntil(Func<bool> isEnough, Migration run)
    {
        string[][] round =
        [
            ["INCR", "n"], ["RPUSH", "l", "a"], ["APPEND", "s", "x"], ["MULTI"], ["INCR", "n"], ["SELECT", "3"], ["HINCRBY", "h", "f", "1"], ["RPUSH", "l", "b"], ["EXEC"],
            ["APPEND", "s", "y"], ["SELECT", "0"], ["EVAL", "redis.call('INCR', 'n') redis.call('RPUSH', 'l', 'c')", "0"], ["SADD", "m", "1", "2", "3"], ["SPOP", "m"], ["EXPIRE", "m", "1000"],
        ];
        for (long endMs = Environment.TickCount64 + 60_000; !isEnough();)
        {
            if (Environment.TickCount64 > endMs) throw new TimeoutException($"it is never enough: {run.Said}");
            At.CallAll(Enumerable.Repeat(round, Rounds).SelectMany(static words => words));
        }
    }

    /// <summary>Cuts over and has all keys compared; what shows a change that was applied twice is the same.</summary>
    public void AssertSame()
    {
        (int code, string said) = Migrate("--cut-over", "--pause-source", "60", "--verify", "all");
        Assert.That(code, Is.Zero, said);
        Assert.That(said, Does.Contain(": 0 differ.").And.Contain("Going on at offset"));
        foreach (string[] words in (string[][])[["SELECT", "0"], ["GET", "n"], ["LLEN", "l"], ["STRLEN", "s"], ["SELECT", "3"], ["HGET", "h", "f"], ["LLEN", "l"], ["STRLEN", "s"]])
            Assert.That(Other.Call(words).ToString(), Is.EqualTo(At.Call(words).ToString()), string.Join(' ', words));
    }

    public void Dispose()
    {
        At.Dispose();
        Other.Dispose();
        Ours.Dispose();
        Redis.Dispose();
    }
}
