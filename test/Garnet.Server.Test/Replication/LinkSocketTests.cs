using System.Net.NetworkInformation;
using System.Net.Sockets;
using Garnet.Common;
using Garnet.Replication;
using Garnet.Replication.Frames;
using Garnet.Server.Replication;

namespace Garnet.Server.Test.Replication;

/// <summary>What ends a link and nothing else; and how long somebody waits who connects to nobody.</summary>
public sealed class LinkSocketTests
{
    private const int WaitMs = 60_000, NeverMs = 600_000;

    [Test]
    public void What_does_not_fit_into_a_frame_is_said_and_ends_its_link_only()
    {
        Assert.That(FrameWriter.Bytes32(Array.MaxLength), Is.EqualTo(Array.MaxLength));
        foreach (long bytes in (long[])[Array.MaxLength + 1L, 1L << 31, 1L << 32])
            Assert.That(LinkSocket.IsOfLink(Assert.Throws<GarnetException>(() => FrameWriter.Bytes32(bytes))!));
    }

    [Test]
    public void Who_does_not_answer_the_connection_is_given_up_after_the_time()
    {
        using Unanswering far = new();
        int port = far.Port;
        Assert.That(EndOf(() => LinkSocket.Connect(new Peer("127.0.0.1", port), 200, new LinkTraffic(), keys: null).Dispose()).SocketErrorCode, Is.EqualTo(SocketError.TimedOut));
    }

    [Test]
    public void Another_thread_ends_a_connection_that_nobody_answers()
    {
        using Unanswering far = new();
        using LinkSocket socket = LinkSocket.Unconnected(NeverMs, new LinkTraffic(), keys: null);
        int port = far.Port;
        Task<Exception?> connecting = Task.Factory.StartNew(() => Thrown(() => socket.Connect("127.0.0.1", port)), TaskCreationOptions.LongRunning);
        Eventually.Holds(() => Begun(port) == 1); // that of the queue has come to its end
        socket.Dispose();
        Assert.That(connecting.Wait(WaitMs), Is.True, "it waits for its time");
        Assert.That(LinkSocket.IsOfLink(connecting.Result!), Is.True);
    }

    private static SocketException EndOf(Action connect)
    {
        Task<Exception?> connecting = Task.Factory.StartNew(() => Thrown(connect), TaskCreationOptions.LongRunning);
        Assert.That(connecting.Wait(WaitMs), Is.True, "it waits for longer");
        return (SocketException)connecting.Result!;
    }

    private static Exception? Thrown(Action connect)
    {
        try
        {
            connect();
            return null;
        }
        catch (Exception e) when (LinkSocket.IsOfLink(e))
        {
            return e;
        }
    }

    private static int Begun(int port) => IPGlobalProperties.GetIPGlobalProperties().GetActiveTcpConnections()
        .Count(connection => connection.State == TcpState.SynSent && connection.RemoteEndPoint.Port == port);
}
