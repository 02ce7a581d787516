using System.Buffers.Binary;
using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text;
using Garnet.Bulk;
using Garnet.Server.Test;
using NUnit.Framework;

namespace Garnet.Wire.Bulk;

/// <summary>Values that go over a network of libfabric's: which addresses the server goes to, and what becomes of those that do not answer.</summary>
[Parallelizable] // servers of its own
[TestFixture("net")]
public sealed class BulkFabricTests(string provider)
{
    private const int Size = 8 << 20;
    private const string PutDone = "[ \"version\"", Ended = "^-BULK(CLOSED|TIMEOUT|KEY)";

    [OneTimeSetUp]
    public void The_machine_has_it()
    {
        if (!BulkLibrary.IsAvailable)
            Assert.Ignore(BulkLibrary.WhyNot);
        if (BulkLibrary.Providers.Single(known => known.Name == provider) is { IsAvailable: false } fact)
            Assert.Ignore(fact.Reason);
    }

    [Test]
    public async Task Only_addresses_of_the_host_that_the_connection_comes_from_are_gone_to()
    {
        using ServerProcess server = Start();
        using RespConnection client = new(server.Address, 60_000);
        await using var exposed = Expose();
        byte[] own = exposed.Address.ToArray();
        Assert.That(own, Has.Length.EqualTo(16));
        foreach (byte[] address in (byte[][])[Host(own, "10.255.255.1"), Host(own, "0.0.0.0"), own[..15], [], [10, 0, .. new byte[26]], [0xFF, .. own[1..]], [.. new byte[200]]])
        {
            Assert.That(Hello(client, address).ToString(), Does.StartWith($"-BULKCLOSED no provider can be had ({provider}: it").IgnoreCase, Convert.ToHexString(address));
        }

        Assert.That(Hello(client, own).ToString(), Does.Contain($"\"provider\" \"{provider}\""));
    }

    [Test]
    public void Whoever_does_not_answer_ends_his_own_session()
    {
        using ServerProcess server = Start("--bulk-timeout 1000");
        using RespConnection other = new(server.Address, 60_000);
        using Socket mute = Listening(), gone = Listening();
        int gonePort = ((IPEndPoint)gone.LocalEndPoint!).Port;
        gone.Dispose();
        other.Call("SET", "k", "old");
        foreach (int port in (int[])[((IPEndPoint)mute.LocalEndPoint!).Port, gonePort, server.Address.Port, 0])
        {
            using RespConnection client = new(server.Address, 60_000);
            RespNode hello = Hello(client, Address(port));
            if (hello.ToString().StartsWith("-BULKCLOSED", StringComparison.Ordinal))
                continue;
            client.Call("BULK.REG", "1", "0", "1000000", "7");
            Assert.That(client.Call("BULK.PUT", "k", "1", "0", "1000000").ToString(), Does.Match(Ended), $"{port}");
            Assert.That(client.Call("PING").ToString(), Is.EqualTo("+PONG"));
            Assert.That(other.Call("GET", "k").Text, Is.EqualTo("old"));
        }

        Assert.That(Figure(other, "transfers-running"), Is.EqualTo("0"));
        Assert.That(Figure(other, "bytes-running"), Is.EqualTo("0"));
    }

    [Test]
    public async Task Memory_that_was_not_named_is_not_to_be_had()
    {
        using ServerProcess server = Start("--bulk-timeout 2000");
        await using var exposed = Expose();
        byte[] memory = GC.AllocateUninitializedArray<byte>(Size, pinned: true);
        using BulkRegion readable = exposed.Register(memory.AsMemory(0, 1000), BulkAccess.Read);
        foreach (string key in (string[])["0x1234567", $"0x{readable.Name.Key ^ 1:x}"])
        {
            using RespConnection client = new(server.Address, 60_000);
            Assert.That(Hello(client, exposed.Address.ToArray()).ToString(), Does.Contain($"\"provider\" \"{provider}\""));
            client.Call("BULK.REG", "1", $"0x{readable.Name.Base:x}", "1000", key);
            Assert.That(client.Call("BULK.PUT", "none", "1", "0", "1000").ToString(), Does.Match(Ended));
            Assert.That(client.Call("EXISTS", "none").Text, Is.EqualTo("0"));
        }

        using RespConnection right = new(server.Address, 60_000);
        Hello(right, exposed.Address.ToArray());
        right.Call("BULK.REG", "1", $"0x{readable.Name.Base:x}", "1000", $"0x{readable.Name.Key:x}");
        Assert.That(right.Call("BULK.PUT", "k", "1", "0", "1000").ToString(), Does.StartWith(PutDone));
        Assert.That(right.Call("BULK.GET", "k", "1", "0", "1000").ToString(), Does.Match(Ended), "it may be read only");
    }

    [Test]
    public void Processes_that_are_killed_leave_a_server_that_serves()
    {
        using ServerProcess server = Start("--bulk-timeout 2000");
        using RespConnection other = new(server.Address, 60_000);
        for (int round = 0; round < 4; round++)
        {
            using RespConnection client = new(server.Address, 60_000);
            using Process process = ExposeElsewhere(out byte[] address, out RemoteRegion region);
            Assert.That(Hello(client, address).ToString(), Does.Contain($"\"provider\" \"{provider}\""));
            client.Call("BULK.REG", "1", $"0x{region.Base:x}", Text((long)region.Length), $"0x{region.Key:x}");
            string first = client.Call("BULK.PUT", "k", "1", "0", Text(Size)).ToString();
            client.Send(RespConnection.Encode("BULK.PUT", "k", "1", "0", Text((long)region.Length)));
            process.Kill();
            process.WaitForExit();
            Assert.That(first, Does.StartWith(PutDone));
            string answer = client.Read().ToString();
            bool isDone = answer.StartsWith(PutDone, StringComparison.Ordinal);
            Assert.That(isDone || System.Text.RegularExpressions.Regex.IsMatch(answer, Ended), Is.True, answer);
            Assert.That(other.Call("STRLEN", "k").Text, Is.EqualTo(Text(isDone ? (long)region.Length : Size)));
        }

        Assert.That(Figure(other, "transfers-running"), Is.EqualTo("0"));
        Assert.That(Figure(other, "bytes-running"), Is.EqualTo("0"));
    }

    [Test]
    public async Task Sessions_that_have_ended_keep_no_descriptors()
    {
        const int Sessions = 30, Few = 20;
        using ServerProcess server = Start();
        using RespConnection other = new(server.Address, 60_000);
        byte[] memory = GC.AllocateUninitializedArray<byte>(1 << 20, pinned: true);
        int before = 0;
        for (int i = 0; i <= Sessions; i++)
        {
            await using var exposed = Expose();
            using BulkRegion region = exposed.Register(memory, BulkAccess.Read | BulkAccess.Write);
            using (RespConnection client = new(server.Address, 60_000))
            {
                Assert.That(Hello(client, exposed.Address.ToArray()).ToString(), Does.Contain($"\"provider\" \"{provider}\""));
                client.Call("BULK.REG", "1", $"0x{region.Name.Base:x}", Text(memory.Length), $"0x{region.Name.Key:x}");
                for (int put = 0; put < 3; put++)
                    Assert.That(client.Call("BULK.PUT", "k", "1", "0", Text(memory.Length)).ToString(), Does.StartWith(PutDone));
            }

            Eventually.Holds(() => Figure(other, "sessions") == "0");
            if (i == 0)
                before = Descriptors(server);
        }

        Assert.That(Descriptors(server), Is.LessThan(before + Few), $"each of {Sessions} sessions had ten or so");
    }

    [Test]
    public void A_server_is_asked_first()
    {
        using ServerProcess? server = ServerProcess.TryStartOurs("");
        if (server is null) Assert.Ignore("our server is not built");
        using RespConnection client = new(server!.Address, 60_000);
        Assert.That(Hello(client, Address(1)).ToString(), Does.Contain($"{provider}: bulk-providers does not name it"), "a port of its own opens nobody by default");
    }

    private static int Descriptors(ServerProcess server) => Directory.GetFileSystemEntries($"/proc/{server.Pid}/fd").Length;

    private ServerProcess Start(string flags = "")
    {
        ServerProcess? server = ServerProcess.TryStartOurs($"--bulk-providers \"local {provider}\" {flags}");
        if (server is null) Assert.Ignore("our server is not built");
        return server!;
    }

    private BulkEndpoint Expose() => BulkEndpoint.Open(provider, new BulkEndpointOptions { Exposes = true, Bind = "127.0.0.1" });

    private Process ExposeElsewhere(out byte[] address, out RemoteRegion region)
    {
        var start = new ProcessStartInfo("dotnet") { RedirectStandardInput = true, RedirectStandardOutput = true };
        foreach (string argument in (string[])[Path.Combine(AppContext.BaseDirectory, "bulk-copy.dll"), "expose", provider, "64", "127.0.0.1"])
            start.ArgumentList.Add(argument);
        Process process = Process.Start(start)!;
        string[] told = process.StandardOutput.ReadLine()!.Split(' ');
        (address, region) = (Convert.FromHexString(told[0]), RemoteRegion.Parse(told[1]));
        return process;
    }

    private RespNode Hello(RespConnection client, byte[] address)
    {
        client.Send(RespConnection.Encode([.. ((string[])["BULK.HELLO", "1", "PROVIDERS", provider, "ADDR"]).Select(Encoding.ASCII.GetBytes), address]));
        return client.Read();
    }

    private static Socket Listening()
    {
        var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        socket.Listen();
        return socket;
    }

    // As the system lays an address out.
    private static byte[] Address(int port)
    {
        byte[] address = [2, 0, .. new byte[14]];
        BinaryPrimitives.WriteUInt16BigEndian(address.AsSpan(2), (ushort)port);
        return Host(address, "127.0.0.1");
    }

    private static byte[] Host(byte[] address, string host) => [.. address[..4], .. IPAddress.Parse(host).GetAddressBytes(), .. address[8..]];

    private static string Figure(RespConnection client, string name)
    {
        IReadOnlyList<RespNode> all = client.Call("BULK.INFO").Items!;
        return all[all.Select(static item => item.Text).ToList().IndexOf(name) + 1].Text;
    }

    private static string Text(long number) => number.ToString(CultureInfo.InvariantCulture);
}
