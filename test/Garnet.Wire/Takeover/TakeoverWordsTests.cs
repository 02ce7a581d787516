using System.Collections;
using System.Diagnostics;
using Garnet.Common;
using Garnet.Migration;
using NUnit.Framework;

namespace Garnet.Wire.Takeover;

/// <summary>The words of garnet-server migrate.</summary>
internal sealed class TakeoverWordsTests
{
    [TestCase("", "needs the address of a source")]
    [TestCase("a b c", "takes two addresses")]
    [TestCase("a --scam", "knows no --scam")]
    [TestCase("a --pause-source 5", "is for --cut-over")]
    [TestCase("a --cut-over --pause-source x", "needs a number")]
    [TestCase("a --timeout", "needs a number")]
    [TestCase("a --verify -1", "needs a number")]
    [TestCase("a --scan --cut-over", "no cut-over")]
    [TestCase("a --replace", "has to be named")]
    [TestCase("unix:/run/redis.sock", "connects by TCP")]
    [TestCase("/run/redis.sock", "connects by TCP")]
    [TestCase("valkeys://:s3cret@a", "does not speak TLS")]
    [TestCase("rediss://a", "does not speak TLS")]
    [TestCase("redis://:s3cret@a/2", "names a database")]
    [TestCase("redis://:s3cret@a:99999", "cannot be read")]
    public void Wrong_words_are_refused_without_showing_a_password(string words, string why)
    {
        GarnetException refused = Assert.Throws<GarnetException>(() => MigrationWords.Parse(words.Split(' ', StringSplitOptions.RemoveEmptyEntries), new Hashtable()))!;
        Assert.That(refused.Kind, Is.EqualTo(ExitKind.Configuration));
        Assert.That(refused.Message, Does.Contain(why).And.Not.Contain("s3cret"));
    }

    [Test]
    public void Passwords_come_from_the_address_the_environment_or_a_file()
    {
        string file = Path.GetTempFileName();
        File.WriteAllText(file, "of file\n");
        var environment = new Hashtable { ["GARNET_SOURCE_PASSWORD"] = "of environment", ["GARNET_TARGET_PASSWORD_FILE"] = file };
        MigrationOptions read = MigrationWords.Parse(["a", "b", "--timeout", "7"], environment);
        File.Delete(file);
        Assert.That((read.Source.Password, read.Target.Password, read.Target.WaitSeconds), Is.EqualTo(("of environment", "of file", 7)));
        Assert.That(MigrationWords.Parse(["valkey://a:7"], new Hashtable()).Source, Is.EqualTo(new ServerAddress("a", 7, "", "")));
        Assert.That(MigrationWords.Parse(["redis://u:p%40@a:1"], new Hashtable()).Source, Is.EqualTo(new ServerAddress("a", 1, "u", "p@")));
    }

    // What a source puts into its stream: what it calls a write, what it repeats to replicas, and what it turns others into.
    [Test]
    public void Whatever_writes_data_may_come_in_a_stream()
    {
        using ServerProcess redis = ServerProcess.TryStartRedis() ?? throw new IgnoreException("redis-server is not installed");
        using RespConnection at = new(redis.Address);
        string[] writing = [.. at.Call("COMMAND", "LIST", "FILTERBY", "ACLCAT", "write").Items!.Select(static name => name.Text.ToUpperInvariant())];
        Assert.That(writing, Has.Length.GreaterThan(90));
        foreach (string name in writing.Except(["FUNCTION", "MIGRATE"])) Assert.That(AppliedCommands.Has(name.Split('|')[0], name.Split('|')[^1]), name);
        foreach (string words in (string[])["PUBLISH x", "SPUBLISH x", "EVAL x", "PFCOUNT x", "SCRIPT LOAD", "SCRIPT FLUSH", "FUNCTION LOAD", "HPEXPIREAT x", "XGROUP CREATE"])
            Assert.That(AppliedCommands.Has(words.Split(' ')[0], words.Split(' ')[1]), words);
        foreach (string words in (string[])["SHUTDOWN x", "CONFIG SET", "ACL SETUSER", "DISCARD x", "WATCH x", "SCRIPT KILL", "FUNCTION STATS", "REPLICAOF x", "CLIENT KILL", "DEBUG x", "MIGRATE x", "MODULE LOAD"])
            Assert.That(AppliedCommands.Has(words.Split(' ')[0], words.Split(' ')[1]), Is.False, words);
    }

    [Test]
    public void What_the_guide_shows_can_be_run_and_help_knows_all_of_it()
    {
        string[] shown = [.. File.ReadLines(Path.Combine(Repository.Root, "website/docs/guide/keeping-data.md")).Where(static line => line.StartsWith("garnet-server migrate "))];
        Assert.That(shown, Is.Not.Empty);
        foreach (string line in shown) MigrationWords.Parse(line.Split(' ')[2..], new Hashtable());
        using Migration help = Migration.Begin("--help", "");
        (int code, string said) = help.End();
        Assert.That(code, Is.Zero);
        using Process plain = Process.Start(new ProcessStartInfo(ServerProcess.OurProgram, ["help"]) { RedirectStandardOutput = true })!;
        Assert.That(plain.StandardOutput.ReadToEnd().ReplaceLineEndings(), Is.EqualTo(said.ReplaceLineEndings()));
        foreach (string option in (string[])["--replace", "--until-caught-up", "--cut-over", "--pause-source", "--verify", "--scan", "--timeout", "--json"])
            Assert.That(said, Does.Contain(option));
    }
}
