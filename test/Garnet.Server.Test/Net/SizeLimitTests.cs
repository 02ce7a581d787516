using System.Text;
using Garnet.Common.Test;
using Garnet.Common;
using Garnet.Wire;
using NUnit.Framework;

namespace Garnet.Server.Test.Net;

/// <summary>What is too large to be sent costs its client an error and nobody else anything, and no more memory than the limit says.</summary>
[TestFixture(TransportKind.Epoll)]
[TestFixture(TransportKind.Sockets)]
internal sealed class SizeLimitTests(TransportKind transport)
{
    private const int Limit = 2 << 20, Element = 100_000, Elements = 100, Reactors = 2, WaitMs = 20_000;

    [Test]
    public void A_reply_above_the_limit_of_its_class_is_one_error_and_the_end_of_the_connection()
    {
        using TestServer server = Start(Limit);
        using RespConnection connection = Filled(server);
        connection.Send(RespConnection.Encode("PING"));
        connection.Send(RespConnection.Encode("LRANGE", "big", "0", "-1"));
        Assert.That(connection.Read().ToString(), Is.EqualTo("+PONG"), "what came before is there");
        Assert.That(connection.Read().ToString(), Does.StartWith("-ERR the reply of").And.Contain($"the limit of {Limit}"));
        Assert.That(connection.Read, Throws.InstanceOf<IOException>());
    }

    [Test]
    public void A_reply_below_the_limit_is_whole_however_it_grows()
    {
        using TestServer server = Start(0);
        using RespConnection connection = Filled(server);
        for (int round = 0; round < 3; round++)
        {
            RespNode all = connection.Call("LRANGE", "big", "0", "-1");
            Assert.That(all.Items!, Has.Count.EqualTo(Elements));
            for (int i = 0; i < Elements; i++) Assert.That(all.Items![i].Text, Is.EqualTo(Value(i)), $"element {i}");
        }
    }

    [Test]
    public void A_reader_that_takes_its_time_gets_every_byte_of_a_large_reply_and_of_those_behind_it()
    {
        using TestServer server = Start(0);
        using RespConnection connection = Filled(server);
        for (int i = 0; i < 4; i++)
        {
            connection.Send(RespConnection.Encode("LRANGE", "big", "0", "-1"));
            connection.Send(RespConnection.Encode("ECHO", $"behind {i}"));
        }
        using (RespConnection other = server.Connect()) Assert.That(other.Call("PING").ToString(), Is.EqualTo("+PONG"));
        for (int i = 0; i < 4; i++)
        {
            Assert.That(connection.Read().Items!.Select(static item => item.Text), Is.EqualTo(Enumerable.Range(0, Elements).Select(Value)));
            Assert.That(connection.Read().Text, Is.EqualTo($"behind {i}"));
        }
    }

    [TestCase(Limit)]
    [TestCase(16 << 10)]
    public void What_a_waiter_is_served_above_the_limit_of_its_class_is_one_error_and_the_end_of_its_connection(int limit)
    {
        using TestServer server = Start(limit, static settings => settings.Network.ReactorThreads = Reactors);
        using RespConnection pusher = server.Connect();
        RespConnection[] waiters = [.. Enumerable.Range(0, 2 * Reactors).Select(_ => server.Connect())]; // of the pusher's reactor and of others
        foreach (RespConnection waiter in waiters)
        {
            waiter.Send(RespConnection.Encode("BLMPOP", "0", "1", "q", "LEFT", "COUNT", $"{Elements}"));
            Assert.That(() => pusher.Call("INFO", "clients").Text, Does.Contain("blocked_clients:1").After(WaitMs, 5));
            Assert.That(pusher.Call(["RPUSH", "q", .. Enumerable.Range(0, Elements).Select(Value)]).ToString(), Is.EqualTo($":{Elements}"));
            Assert.That(waiter.Read().ToString(), Does.StartWith("-ERR the reply of").And.Contain($"the limit of {limit}"));
            Assert.That(waiter.Read, Throws.InstanceOf<IOException>());
            waiter.Dispose();
        }
        Assert.That(pusher.Call("LLEN", "q").ToString(), Is.EqualTo(":0"), "the commands have run");
    }

    [Test]
    public void What_a_waiter_is_served_below_the_limit_is_whole_beside_what_it_was_sent_before()
    {
        using TestServer server = Start(0);
        using RespConnection pusher = server.Connect(), waiter = server.Connect();
        waiter.Send(RespConnection.Encode("ECHO", new string('e', 100_000)));
        waiter.Send(RespConnection.Encode("BLMPOP", "0", "1", "q", "LEFT", "COUNT", $"{Elements}"));
        Assert.That(() => pusher.Call("INFO", "clients").Text, Does.Contain("blocked_clients:1").After(WaitMs, 5));
        pusher.Call(["RPUSH", "q", .. Enumerable.Range(0, Elements).Select(Value)]);
        Assert.That(waiter.Read().Text, Has.Length.EqualTo(100_000));
        Assert.That(waiter.Read().Items![1].Items!.Select(static item => item.Text), Is.EqualTo(Enumerable.Range(0, Elements).Select(Value)));
    }

    [Test]
    public void In_a_transaction_what_is_too_long_is_an_error_and_the_others_have_run()
    {
        using TestServer server = Start(0, static settings => settings.Scripts.MemoryBytesMax = 1 << 30);
        using RespConnection connection = Filled(server);
        connection.Call("CONFIG", "SET", "client-output-buffer-limit", $"normal {Limit} 0 0");
        foreach (string[] command in (string[][])[["MULTI"], ["SET", "a", "1"], ["LRANGE", "big", "0", "-1"], ["SET", "b", "2"]]) connection.Call(command);
        RespNode reply = connection.Call("EXEC");
        Assert.That(reply.Items![0].ToString(), Is.EqualTo("+OK"));
        Assert.That(reply.Items![1].ToString(), Does.StartWith("-ERR the reply of"));
        Assert.That(reply.Items![2].ToString(), Is.EqualTo("+OK"));
        using RespConnection other = server.Connect();
        Assert.That(other.Call("MGET", "a", "b").Items!.Select(static item => item.Text), Is.EqualTo((string[])["1", "2"]));
    }

    [Test]
    public void A_large_command_that_has_to_wait_runs_later_and_what_follows_it_behind_it()
    {
        using TestServer server = Start(0);
        using RespConnection admin = server.Connect();
        using RespConnection connection = server.Connect();
        string large = new('x', 24 << 20); // more than reactors have for what arrives
        admin.Call("CLIENT", "PAUSE", "100000", "WRITE");
        var sender = new Thread(() =>
        {
            foreach (string[] command in (string[][])[["SET", "big", large], ["STRLEN", "big"], ["SET", "big2", large], ["ECHO", "behind"]]) connection.Send(RespConnection.Encode(command));
        });
        sender.Start(); // what follows the first command is not read before that has run
        Assert.That(() => admin.Call("CLIENT", "LIST").Text, Does.Contain("cmd=set").After(60_000, 20));
        admin.Call("CLIENT", "UNPAUSE");
        Assert.That(Enumerable.Range(0, 4).Select(_ => connection.Read().Text), Is.EqualTo((string[])["OK", $"{24 << 20}", "OK", "behind"]));
        sender.Await();
    }

    [Test]
    public void What_is_popped_beyond_the_limit_is_popped_and_the_client_told_so()
    {
        using TestServer server = Start(Limit);
        using RespConnection connection = Filled(server);
        Assert.That(connection.Call("LPOP", "big", "1000").ToString(), Does.StartWith("-ERR the reply of").And.EndWith("the command has run"));
        using RespConnection other = server.Connect();
        Assert.That(other.Call("EXISTS", "big").Text, Is.EqualTo("0"));
    }

    private TestServer Start(long limit, Action<ServerSettings>? adjust = null) => new(transport, settings =>
    {
        if (limit > 0) settings.Network.OutputBufferLimits = (OutputBufferLimits)OutputBufferLimits.Default.Parse($"normal {limit} 0 0", out _)!;
        adjust?.Invoke(settings);
    });

    private static RespConnection Filled(TestServer server)
    {
        RespConnection connection = server.Connect();
        for (int i = 0; i < Elements; i++) connection.Send(RespConnection.Encode("RPUSH", "big", Value(i)));
        for (int i = 0; i < Elements; i++) connection.Read();
        return connection;
    }

    private static string Value(int number) => new StringBuilder().Append(number).Append(' ').Append((char)('a' + (number % 26)), Element).ToString();
}
