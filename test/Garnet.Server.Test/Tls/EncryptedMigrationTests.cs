using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Garnet.Server.Test.Net;
using Garnet.Wire;
using NUnit.Framework;

namespace Garnet.Server.Test.Tls;

/// <summary>MIGRATE to encrypted ports waits without threads.</summary>
internal sealed class EncryptedMigrationTests
{
    private const int Clients = 200;

    [Test]
    public void Two_hundred_that_wait_for_a_mute_target_delay_nobody()
    {
        using TcpListener mute = new(IPAddress.Loopback, 0);
        mute.Start(2 * Clients);
        string mutePort = ((IPEndPoint)mute.LocalEndpoint).Port.ToString(CultureInfo.InvariantCulture);
        using TestServer server = new(Route.Tls, static settings => settings.Tls.OfMigration = true);
        string ownPort = server.Server.TlsPort.ToString(CultureInfo.InvariantCulture);
        using RespConnection other = server.Connect();
        Assert.That(other.Call("MSET", "goes", new string('v', 1 << 20)).ToString(), Is.EqualTo("+OK"));
        List<RespConnection> waiting = [];
        for (int i = 0; i < Clients; i++)
        {
            waiting.Add(new RespConnection(server.Address));
            Assert.That(other.Call("SET", $"stays{i}", "v").ToString(), Is.EqualTo("+OK")); // its own: one client at a time sends a key
            waiting[i].Send(RespConnection.Encode("MIGRATE", "127.0.0.1", mutePort, $"stays{i}", "0", "120000", "COPY"));
        }

        Assert.That(other.Call("PING").ToString(), Is.EqualTo("+PONG"));
        Assert.That(other.Call("MIGRATE", "127.0.0.1", ownPort, "goes", "1", "30000").ToString(), Is.EqualTo("+OK"), "another one goes through");
        Assert.That(other.Call("EXISTS", "stays0", "goes").ToString(), Is.EqualTo(":1"));
        Assert.That(waiting.Any(static client => client.HasMore), Is.False, "all of them still wait");
        mute.Stop();
        foreach (RespConnection client in waiting)
        {
            Assert.That(client.Read().ToString(), Does.StartWith("-IOERR error or timeout connecting to the client: it closed the connection in the handshake of TLS"));
            client.Dispose();
        }

        Assert.That(other.Call("SELECT", "1").ToString(), Is.EqualTo("+OK"));
        Assert.That(other.Call("STRLEN", "goes").ToString(), Is.EqualTo($":{1 << 20}"));
    }
}
