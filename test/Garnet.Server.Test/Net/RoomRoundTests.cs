using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Garnet.Common.Test;
using Garnet.Server.Clients;

namespace Garnet.Server.Test.Net;

/// <summary>Clients whose commands come to a reactor in one round, of which the first finds no room in memory.</summary>
internal sealed class RoomRoundTests
{
    private const int MemoryBytes = 12 << 20, LargeBytes = 60_000; // less than what is asked about before it runs

    // Its command finds out in its run: nobody had to be asked about room before.
    [Test]
    public void Who_comes_behind_one_that_finds_no_room_stands_behind_him_though_there_is_some_for_him()
    {
        using HangingStage stage = new(MemoryBytes);
        stage.Medium.HangWrites();
        Fill(stage);
        using TcpClient large = new("127.0.0.1", stage.Server.Port), small = new("127.0.0.1", stage.Server.Port);
        using (HeldReactor round = new(stage.Server, large, small))
        {
            round.Send(large, Set("large", LargeBytes));
            round.Send(small, Set("small", 1));
        }

        Eventually.Holds(() => Of(stage, large).Parked);
        Eventually.Holds(() => Of(stage, small).Parked);
        stage.Medium.Mend();
        foreach (TcpClient client in (TcpClient[])[large, small])
        {
            client.ReceiveTimeout = 60_000; // the clock stands still: both wait for as long as the movers take on a busy machine
            Assert.That(Read(client), Is.EqualTo("+OK\r\n"));
        }
    }

    // Until there is no room for one more, whose client goes then.
    private static void Fill(HangingStage stage)
    {
        using TcpClient client = new("127.0.0.1", stage.Server.Port);
        EmbeddedServer.Send(client, "PING\r\n", "+PONG\r\n");
        Connection connection = Of(stage, client);
        for (int i = 0; !connection.Parked; i++)
        {
            client.GetStream().Write(Encoding.Latin1.GetBytes(Set($"filler{i}", LargeBytes)));
            Eventually.Holds(() => connection.Parked || client.Available > 0);
            if (client.Available > 0)
                Assert.That(Read(client), Is.EqualTo("+OK\r\n"));
        }

        client.Close();
        Eventually.Holds(() => connection.Closed);
    }

    private static string Set(string key, int bytes) =>
        string.Create(CultureInfo.InvariantCulture, $"*3\r\n$3\r\nSET\r\n${key.Length}\r\n{key}\r\n${bytes}\r\n{new string('v', bytes)}\r\n");

    private static Connection Of(HangingStage stage, TcpClient client)
    {
        string port = string.Create(CultureInfo.InvariantCulture, $":{((IPEndPoint)client.Client.LocalEndPoint!).Port}");
        return stage.Server.Context.Clients().Single(connection => connection.Peer.Remote.EndsWith(port, StringComparison.Ordinal));
    }

    private static string Read(TcpClient client)
    {
        byte[] reply = new byte["+OK\r\n".Length];
        client.GetStream().ReadExactly(reply);
        return Encoding.Latin1.GetString(reply);
    }
}
