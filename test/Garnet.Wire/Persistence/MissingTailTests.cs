using NUnit.Framework;

namespace Garnet.Wire.Persistence;

/// <summary>What a killed server wrote last stands in a file beside the log: without it nothing is served as if it were all.</summary>
[Parallelizable] // servers of its own
internal sealed class MissingTailTests
{
    [TestCase("remove")]
    [TestCase("empty")]
    [TestCase("shorten")]
    public void A_start_without_the_end_of_the_log_is_refused_by_name_and_changes_nothing(string how)
    {
        using DataServer server = new("--appendfsync everysec");
        using (RespConnection connection = server.Connect()) Assert.That(connection.Call("SET", "k", "v").ToString(), Is.EqualTo("+OK"));
        server.Kill();
        string directory = Path.Combine(server.Path, "appendonlydir");
        string? tail = Directory.GetFiles(directory, "*.tail").SingleOrDefault();
        if (tail is null) Assert.Ignore("no ring on this file system");
        byte[] content = File.ReadAllBytes(tail!);
        if (how == "remove") File.Delete(tail!);
        else File.WriteAllBytes(tail!, how == "empty" ? [] : content[..^1]);
        string name = Path.GetFileName(tail!);
        foreach ((int code, string said) in ((int, string)[])[RefusedStart.Run(server.Path), RefusedStart.Check(server.Path)])
        {
            Assert.That((code, said), Is.EqualTo((RefusedStart.Data, said)));
            Assert.That(said, Does.Contain(name));
        }
        File.WriteAllBytes(tail!, content);
        server.Start();
        using RespConnection again = server.Connect();
        Assert.That(again.Call("GET", "k").Text, Is.EqualTo("v"), "with the file put back all is there");
    }

    [Test]
    public void After_an_orderly_stop_and_after_a_start_no_tail_is_missed()
    {
        using DataServer server = new("--appendfsync everysec");
        using (RespConnection connection = server.Connect()) connection.Call("SET", "k", "v");
        server.Kill();
        server.Start(); // puts the tail into its file
        using (RespConnection connection = server.Connect()) connection.Call("SET", "l", "w");
        server.Stop();
        Assert.That(Directory.GetFiles(Path.Combine(server.Path, "appendonlydir"), "*.tail"), Is.Empty);
        server.Start();
        using RespConnection again = server.Connect();
        Assert.That(again.Call("MGET", "k", "l").Items!.Select(static item => item.Text), Is.EqualTo((string[])["v", "w"]));
    }
}
