using System.Diagnostics;
using System.Globalization;
using Garnet.Common.Test;
using NUnit.Framework;

namespace Garnet.Wire.Load;

/// <summary>Many connections that do nothing must cost little and disturb nobody.</summary>
[NonParallelizable]
internal sealed class IdleConnectionTests
{
    private const int IdleCount = 10_000, BusyCount = 64, Rounds = 50, Pipeline = 32;

    // The target is 2 KiB over epoll; the bound leaves room for heap that the collector has not given back. The portable
    // transport holds the framework's own socket and event objects as well.
    private static int BytesMax(string transport) => transport == "epoll" ? 4 * 1024 : 10 * 1024;

    [TestCase("epoll")]
    [TestCase("sockets")]
    public void An_idle_connection_takes_little_memory(string transport)
    {
        const int Count = 4_000;
        using ServerProcess server = Start(transport);
        Open(server, 500).ForEach(connection => connection.Dispose());   // what the server takes once
        Collect(server);
        long before = server.ResidentBytes();
        List<RespConnection> idle = Open(server, Count);
        Collect(server);
        long each = (server.ResidentBytes() - before) / Count;
        idle.ForEach(connection => connection.Dispose());
        TestContext.Out.WriteLine($"{transport}: {each} bytes of resident memory for each of {Count} idle connections");
        Assert.That(each, Is.LessThan(BytesMax(transport)));
    }

    [TestCase("epoll")]
    [LongCase("sockets")]
    public void Ten_thousand_idle_connections_do_not_disturb_the_busy_ones(string transport)
    {
        using ServerProcess server = Start(transport);
        List<RespConnection> idle = Open(server, IdleCount);
        List<RespConnection> busy = Open(server, BusyCount);
        byte[] bytes = [.. Enumerable.Repeat(RespConnection.Encode("INCR", "n"), Pipeline).SelectMany(command => command)];
        long began = Stopwatch.GetTimestamp();
        for (int round = 0; round < Rounds; round++)
        {
            busy.ForEach(connection => connection.Send(bytes));
            foreach (RespConnection connection in busy)
                for (int i = 0; i < Pipeline; i++) Assert.That(connection.Read().Kind, Is.EqualTo(':'));
        }
        double seconds = Stopwatch.GetElapsedTime(began).TotalSeconds;
        int commands = Rounds * BusyCount * Pipeline;
        TestContext.Out.WriteLine($"{transport}: {commands / seconds:N0} commands a second over {BusyCount} connections beside {IdleCount} idle ones, one client thread");
        Assert.That(busy[0].Call("GET", "n").Text, Is.EqualTo(commands.ToString(CultureInfo.InvariantCulture)));
        Assert.That(busy[0].Call("INFO", "clients").Text, Does.Contain($"connected_clients:{IdleCount + BusyCount}"));
        idle.ForEach(connection => Assert.That(connection.HasMore, Is.False));
        Assert.That(idle[^1].Call("PING").ToString(), Is.EqualTo("+PONG"));
        idle.ForEach(connection => connection.Dispose());
        Assert.That(() => busy[0].Call("INFO", "clients").Text, Does.Contain($"connected_clients:{BusyCount}").After(60_000, 20));
        busy.ForEach(connection => connection.Dispose());
    }

    private static List<RespConnection> Open(ServerProcess server, int count)
    {
        List<RespConnection> connections = [];
        for (int i = 0; i < count; i++)
        {
            connections.Add(new RespConnection(server.Address));
            if (connections[^1].Call("PING").ToString() != "+PONG") Assert.Fail($"connection {i} was not served");
        }
        return connections;
    }

    private static void Collect(ServerProcess server)
    {
        using RespConnection connection = new(server.Address);
        connection.Call("MEMORY", "PURGE");
    }

    private static ServerProcess Start(string transport)
    {
        _ = Servers.Ours;   // skips with the reason when it is not there
        return ServerProcess.TryStartOurs($"--maxclients {IdleCount + 500} --transport {transport}") ?? throw new IgnoreException("our server is not built");
    }
}
