using Garnet.Wire.Rdb;
using NUnit.Framework;

namespace Garnet.Wire.Takeover;

/// <summary>garnet-server migrate: a running Redis is taken over while clients write to it.</summary>
[Parallelizable] // its servers are its own
internal sealed class TakeoverTests
{
    [Test]
    public void All_kinds_and_all_databases_are_the_same_at_the_cut_over()
    {
        using ServerProcess redis = Redis(), ours = Ours();
        using RespConnection at = new(redis.Address), other = new(ours.Address);
        foreach (string kind in Values.Kinds)
        {
            Values.Fill(at, "small:" + kind, kind, 5);
            Values.Fill(at, "large:" + kind, kind, 2_000);
        }
        at.Call("SET", "expiring", "v", "PXAT", "4000000000000");
        at.Call("SELECT", "3");
        at.Call("SET", "k", "in 3");
        (int code, string said) = Migrate(redis, ours, "--cut-over", "--pause-source", "60", "--verify", "all");
        Assert.That(code, Is.Zero, said);
        Assert.That(said, Does.Contain(" 0 differ.").And.Contain("Done: "));
        Assert.That(other.Call("EXISTS", "garnet:migration").ToString(), Is.EqualTo(":0"));
        Assert.That(other.Call("PEXPIRETIME", "expiring").ToString(), Is.EqualTo(":4000000000000"));
        other.Call("SELECT", "3");
        Assert.That(other.Call("GET", "k").Text, Is.EqualTo("in 3"));
    }

    [Test]
    public void A_second_run_goes_on_and_applies_nothing_twice()
    {
        using ServerProcess redis = Redis(), ours = Ours();
        using RespConnection at = new(redis.Address), other = new(ours.Address);
        at.Call("INCR", "n");
        Assert.That(Migrate(redis, ours, "--until-caught-up").Code, Is.Zero);
        at.Call("INCR", "n");
        foreach (string[] words in (string[][])[["MULTI"], ["INCR", "n"], ["SELECT", "2"], ["RPUSH", "l", "a"], ["EXEC"], ["RPUSH", "l", "b"]])
            at.Call(words);
        (int code, string said) = Migrate(redis, ours, "--cut-over", "--verify", "all");
        Assert.That(code, Is.Zero, said);
        Assert.That(said, Does.Contain("Going on at offset"));
        Assert.That(other.Call("GET", "n").Text, Is.EqualTo("3"));
    }

    [Test]
    public void A_target_with_keys_is_refused_and_keeps_them()
    {
        using ServerProcess redis = Redis(), ours = Ours();
        using RespConnection other = new(ours.Address);
        other.Call("SET", "k", "mine");
        (int code, string said) = Migrate(redis, ours, "--cut-over");
        Assert.That(code, Is.EqualTo(64), said);
        Assert.That(said, Does.Contain("is not empty"));
        Assert.That(other.Call("GET", "k").Text, Is.EqualTo("mine"));
    }

    private static ServerProcess Redis() => ServerProcess.TryStartRedis("--repl-diskless-sync-delay 0") ?? throw new IgnoreException("redis-server is not installed");

    private static ServerProcess Ours() => ServerProcess.TryStartOurs("--databases 16") ?? throw new IgnoreException("our server is not built");

    private static (int Code, string Said) Migrate(ServerProcess from, ServerProcess to, params string[] options) =>
        Migration.Run(from.Address, to.Address, options);
}
