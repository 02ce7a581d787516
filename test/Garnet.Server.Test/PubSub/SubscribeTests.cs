using NUnit.Framework;

namespace Garnet.Server.Test.PubSub;

/// <summary>A client is subscribed to what it was told it is, and to nothing else.</summary>
internal sealed class SubscribeTests
{
    [Test]
    public void A_name_that_is_refused_leaves_nothing_of_those_before_it([Values("2", "3")] string protocol, [Values] bool pattern)
    {
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        using var other = new TestClient(server.Server.Port);
        client.Call("HELLO", protocol);
        string[] names = pattern ? ["a*", $"*{new string('x', 1025)}*"] : ["abc", .. Enumerable.Range(0, 65).Select(static i => i + new string('n', 1 << 20))];
        string refused = client.Call([pattern ? "PSUBSCRIBE" : "SUBSCRIBE", .. names]);
        Assert.That(refused, Does.StartWith("ERR "));
        Assert.That(other.Call("PUBLISH", "abc", "hello"), Is.EqualTo("0"));
        Assert.That(client.Call("ECHO", "mine"), Is.EqualTo("mine"), "what was asked for, and no message");
        Assert.That(client.Call("CLIENT", "INFO"), Does.Contain(" sub=0 psub=0 "));
        Assert.That(client.Pushes, Is.Empty);
    }
}
