using System.Diagnostics;
using System.Net.Sockets;
using Garnet.Common.Test.Resp;
using Garnet.Server.Clients;
using Garnet.Server.Commands;
using Garnet.Wire;
using NUnit.Framework;

namespace Garnet.Server.Test.Net;

/// <summary>Spoilt streams and random commands from many connections at once: the server stays up, and its store stays sound.</summary>
[TestFixture(TransportKind.Epoll)]
[TestFixture(TransportKind.Sockets)]
internal sealed class LiveFuzz(TransportKind transport)
{
    private const int ThreadCount = 4, ConnectionsEach = 8;

    // What ends or holds up the server, or changes who is served, on purpose.
    private static readonly string[] Spared = ["SHUTDOWN", "DEBUG", "CONFIG", "CLIENT|PAUSE", "MODULE"];

    private static readonly string[] Words =
        ["k", "k1", "k2", "other", "0", "1", "-1", "100", "9223372036854775807", "EX", "PX", "NX", "XX", "GET", "KEEPTTL", "MATCH", "*", "k*", "COUNT", "[a-", "", "3", "\r\n", "\0", "YES", "ASYNC", "LEN", "IDX"];

    [Test]
    public void The_server_stays_up_and_its_store_sound()
    {
        TestContext.Out.WriteLine($"GARNET_FUZZ_SEED={FuzzStream.Seed}");
        using TestServer server = new(transport, settings => settings.Memory.MaxMemoryBytes = 64 << 20);
        CommandSpec[] all = [.. server.Server.Commands.Specs.Skip(1).Where(spec => !Spared.Any(spared => spec.Name.StartsWith(spared, StringComparison.Ordinal)))];
        CommandSpec[] prompt = [.. all.Where(static spec => (spec.Flags & CommandFlags.Blocking) == 0)];
        // A client that waits is not read: its end is heard of only if nothing unread is in front of it, or by a reset.
        TestThread.Join(TestThread.Begin(ThreadCount, i =>
        {
            bool resets = i % 2 == 0 && transport == TransportKind.Epoll;
            Run(server, resets ? all : prompt, new Random(FuzzStream.Seed + i), resets);
        }));
        server.AwaitClients(0);
        long commands = server.Server.Reactors.Sum(reactor => reactor.Figures.Calls.Sum());
        TestContext.Out.WriteLine($"{commands} commands ran, {server.Server.Context.Connections().Received} connections");
        Assert.That(commands, Is.Positive);
    }

    private static void Run(TestServer server, CommandSpec[] commands, Random random, bool resets)
    {
        FuzzStream streams = new(random);
        Socket?[] sockets = new Socket?[ConnectionsEach];
        byte[] replies = new byte[64 * 1024];
        long began = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(began).TotalSeconds < FuzzStream.Seconds)
        {
            ref Socket? socket = ref sockets[random.Next(ConnectionsEach)];
            socket ??= Connect(server);
            byte[] bytes = random.Next(5) switch
            {
                0 => streams.Next(),
                1 => Noise(random),
                _ => Pipeline(commands, random),
            };
            if (!Exchange(socket, bytes, replies) || random.Next(50) == 0)
            {
                End(socket, resets || random.Next(2) == 0);
                socket = null;
            }
        }
        foreach (Socket? socket in sockets)
        {
            if (socket is not null) End(socket, resets);
        }
    }

    private static void End(Socket socket, bool resets)
    {
        if (resets) socket.LingerState = new LingerOption(true, 0);
        socket.Dispose();
    }

    private static Socket Connect(TestServer server)
    {
        Socket socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        socket.Connect(server.Address);
        socket.Blocking = false;
        return socket;
    }

    /// <summary>Sends what the socket takes and reads what is there; false when the server closed.</summary>
    private static bool Exchange(Socket socket, byte[] bytes, byte[] replies)
    {
        socket.Send(bytes, SocketFlags.None, out SocketError sent);
        int got = socket.Receive(replies, 0, replies.Length, SocketFlags.None, out SocketError received);
        return sent is SocketError.Success or SocketError.WouldBlock && (received == SocketError.WouldBlock || (received == SocketError.Success && got > 0));
    }

    private static byte[] Noise(Random random)
    {
        byte[] bytes = new byte[random.Next(500)];
        random.NextBytes(bytes);
        return bytes;
    }

    private static byte[] Pipeline(CommandSpec[] commands, Random random)
    {
        MemoryStream stream = new();
        for (int i = random.Next(1, 40); i > 0; i--)
        {
            string[] name = commands[random.Next(commands.Length)].Name.Split('|');
            string[] arguments = [.. Enumerable.Range(0, random.Next(6)).Select(_ => random.Next(20) == 0 ? new string('v', random.Next(100_000)) : Words[random.Next(Words.Length)])];
            stream.Write(RespConnection.Encode([.. name, .. arguments]));
        }
        return stream.ToArray();
    }
}
