using System.Net.Sockets;
using NUnit.Framework;

namespace Garnet.Server.Test.Net;

/// <summary>What becomes of whoever comes while a server stops: in a process that goes on, nothing of it may be left open.</summary>
internal sealed class StopTests
{
    private const int Rounds = 20, Callers = 4, CallsMax = 2000, EndMs = 10_000;

    private string _folder = "";

    [SetUp]
    public void Make() => _folder = Directory.CreateTempSubdirectory("garnet-stop").FullName;

    [TearDown]
    public void Remove() => Directory.Delete(_folder, recursive: true);

    // By a socket of its own: a port may be another server's a moment after the stop, or the caller's own.
    [Test]
    public void Who_connects_while_the_server_stops_is_closed([Values(TransportKind.Auto, TransportKind.Sockets)] TransportKind transport)
    {
        for (int round = 0; round < Rounds; round++)
        {
            string path = Path.Combine(_folder, $"{round}");
            using var server = new EmbeddedServer(adjust: settings =>
                (settings.Network.Transport, settings.Network.ReactorThreads, settings.Network.UnixSocket) = (transport, 1, path));
            List<Socket> connected = [];
            Task[] callers = [.. Enumerable.Range(0, Callers).Select(_ => Task.Run(() => CallUntilRefused(path, connected)))];
            Eventually.Holds(() => Count(connected) >= 8);
            server.Dispose();
            Assert.That(Task.WaitAll(callers, EndMs), Is.True);
            Assert.That(connected.FindIndex(static socket => !IsClosed(socket)), Is.EqualTo(-1), $"of {connected.Count} the first that was never closed, in round {round}");
            foreach (Socket socket in connected) socket.Dispose();
        }
    }

    private static int Count(List<Socket> connected)
    {
        lock (connected) return connected.Count;
    }

    private static void CallUntilRefused(string path, List<Socket> connected)
    {
        for (bool isOpen = true; isOpen;)
        {
            Socket socket = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
            try
            {
                socket.Connect(new UnixDomainSocketEndPoint(path));
            }
            catch (SocketException)
            {
                isOpen = false;
            }

            lock (connected)
            {
                connected.Add(socket);
                isOpen &= connected.Count < CallsMax;
            }
        }
    }

    private static bool IsClosed(Socket socket)
    {
        if (!socket.Connected) return true;
        try
        {
            return socket.Poll(EndMs * 1000, SelectMode.SelectRead) && socket.Receive(new byte[1]) == 0;
        }
        catch (SocketException)
        {
            return true;
        }
    }
}
