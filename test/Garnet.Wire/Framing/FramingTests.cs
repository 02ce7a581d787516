using System.Net;
using System.Net.Sockets;
using System.Text;
using NUnit.Framework;

namespace Garnet.Wire.Framing;

[TestFixture]
internal sealed class FramingTests
{
    private const int SilenceMs = 60, CloseMs = 20_000;

    private readonly Lazy<ServerProcess?> _oursLocked = new(() => ServerProcess.TryStartOurs("--requirepass secret"));
    private readonly Lazy<ServerProcess?> _redisLocked = new(() => ServerProcess.TryStartRedis("--requirepass secret"));

    [OneTimeTearDown]
    public void Stop()
    {
        if (_oursLocked.IsValueCreated) _oursLocked.Value?.Dispose();
        if (_redisLocked.IsValueCreated) _redisLocked.Value?.Dispose();
    }

    [TestCaseSource(typeof(FramingCases), nameof(FramingCases.All))]
    public void Ours_frames(FramingCase row) => Play(row, ServerSide.Ours);

    [TestCaseSource(typeof(FramingCases), nameof(FramingCases.All))]
    public void The_reference_frames(FramingCase row) => Play(row, ServerSide.Redis);

    [Test]
    public void A_mix_of_inline_and_arrays_is_the_same_wherever_it_is_split([Values] ServerSide side)
    {
        FramingCase mixed = FramingCases.All().Single(c => c.Name == "inline and arrays mixed");
        byte[] bytes = mixed.Bytes;
        for (int split = 1; split < bytes.Length; split++)
        {
            using RespConnection connection = new(Servers.Of(side).Address);
            connection.Send(bytes.AsSpan(0, split));
            connection.Send(bytes.AsSpan(split));
            Assert.That(Receive(connection, mixed.Replies.Length), Is.EqualTo(mixed.Replies), $"split at {split}");
        }
    }

    [Test]
    public void A_count_line_longer_than_a_buffer_is_refused_when_it_ends([Values] ServerSide side)
    {
        using RespConnection connection = new(Servers.Of(side).Address);
        connection.Send(Encoding.ASCII.GetBytes("*" + new string('1', 20_000)));
        Assert.That(connection.WaitForBytes(SilenceMs), Is.False);
        connection.Send(Encoding.ASCII.GetBytes(new string('1', 20_000)));
        Assert.That(connection.WaitForBytes(SilenceMs), Is.False);
        connection.Send("\r\n"u8);
        Assert.That(connection.Read().ToString(), Is.EqualTo("-ERR Protocol error: invalid multibulk length"));
        Assert.That(connection.ReadsEnd());
    }

    [Test]
    public void Connections_that_are_reset_at_once_do_not_stop_the_accept_loop([Values] ServerSide side)
    {
        IPEndPoint server = Servers.Of(side).Address;
        for (int i = 0; i < 500; i++)
        {
            using Socket socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { LingerState = new LingerOption(true, 0) };
            socket.Connect(server);
            socket.Send("*x\r\n"u8);
        }
        using RespConnection connection = new(server);
        Assert.That(connection.Call("PING").ToString(), Is.EqualTo("+PONG"));
    }

    [Test]
    public void Announced_but_unsent_bytes_take_no_memory([Values] ServerSide side)
    {
        ServerProcess server = Servers.Of(side);
        if (server.Pid == 0) Assert.Ignore("the process of the server is not known");
        long before = server.ResidentBytes();
        List<RespConnection> connections = [];
        for (int i = 0; i < 20; i++)
        {
            RespConnection connection = new(server.Address);
            connection.Send("*2\r\n$3\r\nGET\r\n$536870912\r\nabc"u8);
            connections.Add(connection);
        }
        using (RespConnection last = new(server.Address)) last.Call("PING");
        long growth = server.ResidentBytes() - before;
        connections.ForEach(c => c.Dispose());
        Assert.That(growth, Is.LessThan(20L << 20));
    }

    [Test]
    public void A_stranger_that_never_reads_is_closed()
    {
        // The reference (7.0.15 unpatched) lets its replies grow without bound, so this is for ours only.
        using Socket socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        using CancellationTokenSource limit = new(TimeSpan.FromSeconds(60)); // a send timeout would report the reset as a timeout
        socket.Connect(Locked(ServerSide.Ours).Address);
        byte[] pings = Encoding.ASCII.GetBytes(string.Concat(Enumerable.Repeat("PING\r\n", 10_000)));
        Assert.That(async () => { for (int i = 0; i < 2000; i++) await socket.SendAsync(pings, limit.Token); }, Throws.InstanceOf<SocketException>()
            .With.Property(nameof(SocketException.SocketErrorCode)).AnyOf(SocketError.ConnectionReset, SocketError.Shutdown));
    }

    private void Play(FramingCase row, ServerSide side)
    {
        ServerProcess server = row.BeforeAuth ? Locked(side) : Servers.Of(side);
        using RespConnection connection = new(server.Address);
        connection.Send(row.Bytes);
        Ending ending = row.EndingOf(side);
        string wanted = row.RepliesOf(side);
        if (ending == Ending.Stays)
        {
            connection.Send("*1\r\n$4\r\nPING\r\n"u8);
            wanted += row.BeforeAuth && !wanted.StartsWith("+OK", StringComparison.Ordinal) ? "-NOAUTH Authentication required.\r\n" : "+PONG\r\n";
            Assert.That(Receive(connection, wanted.Length), Is.EqualTo(wanted));
            return;
        }
        byte[] got = connection.ReadAll(ending == Ending.Closes ? CloseMs : SilenceMs, out bool closed);
        Assert.That(Encoding.Latin1.GetString(got), Is.EqualTo(wanted));
        Assert.That(closed, Is.EqualTo(ending == Ending.Closes), "closed");
    }

    private static string Receive(RespConnection connection, int bytes)
    {
        StringBuilder got = new();
        bool closed = false;
        while (got.Length < bytes && !closed && connection.WaitForBytes(CloseMs)) got.Append(Encoding.Latin1.GetString(connection.ReadAll(0, out closed)));
        return got.ToString();
    }

    private ServerProcess Locked(ServerSide side)
    {
        _ = Servers.Of(side);   // skips with the reason when it is not there
        return (side == ServerSide.Ours ? _oursLocked.Value : _redisLocked.Value) ?? throw new IgnoreException("a server of our own with a password cannot be started");
    }
}
