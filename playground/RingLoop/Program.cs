using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Garnet.RingLoop;

// What a network loop costs by itself: answers PING on a port of 127.0.0.1, over epoll or over io_uring, and does nothing else.
//   ring-loop epoll 7000     one epoll_wait a round, a recv and a send for each connection, as the server's reactors do
//   ring-loop ring 7000      one io_uring_enter a round: receives that go on by themselves, the sends of a round handed over together
// Measured by: garnet-load run --op ping --port 7000 --server-pid PID --connections 64 --pipeline 16
if (args.Length != 2 || args[0] is not ("epoll" or "ring") || !int.TryParse(args[1], NumberStyles.None, CultureInfo.InvariantCulture, out int port))
{
    Console.Error.WriteLine("ring-loop epoll|ring PORT");
    return 64;
}

using Socket listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
listener.Bind(new IPEndPoint(IPAddress.Loopback, port));
listener.Listen(1024);
listener.Blocking = false;
Console.WriteLine($"{Environment.ProcessId}");
if (args[0] == "epoll") EpollLoop.Run((int)listener.Handle);
else IoRingLoop.Run((int)listener.Handle);
return 0;
