using System.Net.Sockets;

namespace Garnet.Server.Test.Net;

/// <summary>The limit on what all clients hold together.</summary>
public sealed class ClientMemoryTests
{
    [Test]
    public void The_largest_client_goes_when_all_together_are_over_the_limit_and_protected_ones_stay()
    {
        using var server = new EmbeddedServer();
        using TcpClient guarded = server.Connect(), large = server.Connect(), small = server.Connect();
        Assert.That(EmbeddedServer.Send(guarded, "CLIENT NO-EVICT ON\r\n", "\r\n"), Is.EqualTo("+OK\r\n"));
        Queue(guarded, 3 << 20);
        Queue(large, 2 << 20);
        Assert.That(EmbeddedServer.Send(small, "CONFIG SET maxmemory-clients 4mb\r\n", "\r\n"), Is.EqualTo("+OK\r\n"));
        Assert.That(large.GetStream().Read(new byte[10]), Is.Zero, "closed");
        Assert.That(EmbeddedServer.Send(small, "INFO stats\r\n", "\r\n\r\n"), Does.Contain("evicted_clients:1"));
        Assert.That(EmbeddedServer.Send(guarded, "EXEC\r\n", "+OK\r\n"), Does.EndWith("+OK\r\n"));
    }

    private static void Queue(TcpClient client, int valueBytes)
    {
        Assert.That(EmbeddedServer.Send(client, "MULTI\r\n", "\r\n"), Is.EqualTo("+OK\r\n"));
        string request = $"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${valueBytes}\r\n{new string('v', valueBytes)}\r\n";
        Assert.That(EmbeddedServer.Send(client, request, "\r\n"), Is.EqualTo("+QUEUED\r\n"));
    }
}
