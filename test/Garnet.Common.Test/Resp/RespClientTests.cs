using System.Net;
using System.Net.Sockets;
using System.Text;
using Garnet.Common.Resp;
using NUnit.Framework;

namespace Garnet.Common.Test.Resp;

/// <summary>What a client sends, and how it reads lines that come in pieces, together, too long or not at all.</summary>
public sealed class RespClientTests
{
    private readonly TcpListener _server = new(IPAddress.Loopback, 0);

    [SetUp]
    public void Listen() => _server.Start();

    [TearDown]
    public void Close() => _server.Dispose();

    [Test]
    public void A_request_is_an_array_of_bulk_strings_counted_in_bytes() =>
        Assert.That(Encoding.UTF8.GetString(RespClient.Encode("SET", "ä", "")), Is.EqualTo("*3\r\n$3\r\nSET\r\n$2\r\nä\r\n$0\r\n\r\n"));

    [Test]
    public async Task Lines_are_read_one_by_one_however_they_come()
    {
        (RespClient client, Socket other) = await Connected(10_000);
        using (client)
        using (other)
        {
            Task<string> answer = client.Call("PING");
            byte[] request = new byte[14];
            await other.ReceiveAsync(request);
            Assert.That(Encoding.ASCII.GetString(request), Is.EqualTo("*1\r\n$4\r\nPING\r\n"));
            await other.SendAsync("+PO"u8.ToArray());
            await other.SendAsync("NG\r\n:1\r\n-ERR x\r\n"u8.ToArray());
            Assert.That((await answer, await client.ReadLine(), await client.ReadLine()), Is.EqualTo(("+PONG", ":1", "-ERR x")));
        }
    }

    [Test]
    public async Task An_end_a_line_without_an_end_and_silence_are_failures_of_the_connection()
    {
        (RespClient client, Socket other) = await Connected(10_000);
        await other.SendAsync(Encoding.ASCII.GetBytes(new string('x', 70_000)));
        Assert.That(Assert.ThrowsAsync<IOException>(client.ReadLine)!.Message, Is.EqualTo("its reply does not end"));
        client.Dispose();
        other.Dispose();
        (client, other) = await Connected(10_000);
        other.Dispose();
        Assert.That(Assert.ThrowsAsync<EndOfStreamException>(client.ReadLine)!.Message, Is.EqualTo("it closed the connection"));
        client.Dispose();
        (client, other) = await Connected(1);
        Assert.CatchAsync<OperationCanceledException>(client.ReadLine);
        client.Dispose();
        other.Dispose();
    }

    private async Task<(RespClient Client, Socket Server)> Connected(int timeoutMs)
    {
        var socket = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await socket.ConnectAsync(_server.LocalEndpoint);
        return (new RespClient(socket, timeoutMs), await _server.AcceptSocketAsync());
    }
}
