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

    [TestCase("$12\r\na:1\r\nb:2\r\n\r\n\r\n", "a:1\r\nb:2\r\n\r\n")]
    [TestCase("$0\r\n\r\n", "")]
    [TestCase("-NOAUTH x\r\n", "-NOAUTH x")]
    [TestCase("$-1\r\n", "$-1")]
    [TestCase("$99999999999\r\n", "$99999999999")]
    public async Task A_string_is_read_whole_and_what_is_none_as_it_stands(string reply, string text)
    {
        (RespClient client, Socket other) = await Connected(10_000);
        using (client)
        using (other)
        {
            Task<string> answer = client.CallForText(12, "INFO");
            foreach (byte b in Encoding.ASCII.GetBytes(reply + "+PONG\r\n")) await other.SendAsync(new[] { b });
            Assert.That((await answer, await client.ReadLine()), Is.EqualTo((text, "+PONG")));
        }
    }

    [Test]
    public async Task A_string_longer_than_wanted_and_one_cut_short_are_failures_of_the_connection()
    {
        (RespClient client, Socket other) = await Connected(10_000);
        await other.SendAsync("$13\r\n"u8.ToArray());
        Assert.That(Assert.ThrowsAsync<IOException>(() => client.CallForText(12, "INFO"))!.Message, Does.Contain("13 bytes"));
        client.Dispose();
        other.Dispose();
        (client, other) = await Connected(10_000);
        await other.SendAsync("$12\r\nshort"u8.ToArray());
        other.Shutdown(SocketShutdown.Send);
        Assert.ThrowsAsync<EndOfStreamException>(() => client.CallForText(12, "INFO"));
        client.Dispose();
        other.Dispose();
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
