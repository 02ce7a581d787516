using System.Net.Sockets;
using System.Text;
using Garnet.Common;
using Garnet.Server;
using Garnet.Server.Telemetry;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Garnet.Admin.Test;

/// <summary>A server in this process with its listener for operators, both on free ports.</summary>
internal sealed class AdminServer : IDisposable
{
    /// <summary>Nothing takes so long that ends at all.</summary>
    internal const int WaitMs = 30_000;

    private readonly RespServer _server;
    private readonly AdminListener _listener;

    internal AdminServer(TimeProvider? time = null, ILogger? log = null, params (string Name, string Value)[] settings)
    {
        var values = new ServerSettings();
        var table = new SettingTable();
        values.Register(table);
        values.Network.AnyPort = true;
        values.Network.Port = 0;
        values.Network.Bind = ["127.0.0.1"];
        values.Network.ReactorThreads = 2;
        values.Admin.AnyPort = !settings.Any(static one => one.Name == "admin-port");
        values.Admin.Bind = ["127.0.0.1"];
        foreach ((string name, string value) in settings)
            Assert.That(table.SetAtStart(name, value, SettingSource.CommandLine, "test"), Is.Null, name);
        _server = new RespServer(values, table, NullLogger.Instance);
        _server.Start();
        Assert.That(_server.Loaded.Wait(WaitMs));
        _listener = new AdminListener(_server, log ?? NullLogger.Instance, time ?? TimeProvider.System);
        try
        {
            _listener.Open();
        }
        catch (GarnetException)
        {
            _server.Dispose();
            throw;
        }
    }

    internal int Port => _listener.Port;

    internal ServerTelemetry Telemetry => _server.Telemetry;

    internal int ServerPort => _server.Port;

    /// <summary>Connections that the listener serves now.</summary>
    internal int Connections => _listener.Connections;

    internal TcpClient Connect() => new("127.0.0.1", Port) { ReceiveTimeout = WaitMs, SendTimeout = WaitMs };

    /// <summary>The answer to these bytes, up to its end; empty if the connection was closed without one.</summary>
    internal string Raw(string request)
    {
        using TcpClient client = Connect();
        try
        {
            client.GetStream().Write(Encoding.Latin1.GetBytes(request));
            using var reader = new StreamReader(client.GetStream(), Encoding.UTF8);
            return reader.ReadToEnd();
        }
        catch (IOException)
        {
            return "";
        }
    }

    /// <summary>The answer to a request with more fields, each with its line's end.</summary>
    internal string Get(string path, string fields = "", string? host = null) => Raw($"GET {path} HTTP/1.1\r\nHost: {host ?? $"localhost:{Port}"}\r\n{fields}\r\n");

    internal static int StatusOf(string answer) => answer.Length == 0 ? 0 : int.Parse(answer.Split(' ')[1], System.Globalization.CultureInfo.InvariantCulture);

    internal static string BodyOf(string answer) => answer[(answer.IndexOf("\r\n\r\n", StringComparison.Ordinal) + 4)..];

    /// <summary>The reply to one command, as bytes of the protocol.</summary>
    internal string Command(string line, int replyLines = 1)
    {
        using var client = new TcpClient("127.0.0.1", ServerPort) { ReceiveTimeout = WaitMs };
        client.GetStream().Write(Encoding.Latin1.GetBytes(line + "\r\n"));
        using var reader = new StreamReader(client.GetStream(), Encoding.Latin1);
        return string.Join('\n', Enumerable.Range(0, replyLines).Select(_ => reader.ReadLine()));
    }

    /// <summary>All of INFO.</summary>
    internal Dictionary<string, string> Info()
    {
        using var client = new TcpClient("127.0.0.1", ServerPort) { ReceiveTimeout = WaitMs };
        client.GetStream().Write("INFO everything\r\n"u8);
        using var reader = new StreamReader(client.GetStream(), Encoding.UTF8);
        char[] text = new char[int.Parse(reader.ReadLine()![1..], System.Globalization.CultureInfo.InvariantCulture)];
        Assert.That(reader.ReadBlock(text), Is.EqualTo(text.Length));
        return new string(text).Split("\r\n").Select(static line => line.Split(':', 2)).Where(static pair => pair.Length == 2).ToDictionary(static pair => pair[0], static pair => pair[1]);
    }

    public void Dispose()
    {
        _listener.Dispose();
        _server.Dispose();
    }
}
