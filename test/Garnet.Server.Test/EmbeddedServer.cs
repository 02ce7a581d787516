using System.Net.Sockets;
using System.Text;
using Garnet.Aof;
using Garnet.Common;
using Garnet.Common.Time;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Tsavorite;

namespace Garnet.Server.Test;

/// <summary>A server in this process on a free port, and one connection to it.</summary>
internal sealed class EmbeddedServer : IDisposable
{
    private readonly TcpClient _client;

    internal EmbeddedServer(IWriteLog? log = null, DataDirectory? directory = null, AppendSync sync = AppendSync.Everysec, Action<ServerSettings>? adjust = null, IClock? clock = null, ILogger? lines = null)
    {
        var settings = new ServerSettings();
        var table = new SettingTable();
        settings.Register(table);
        settings.Network.Bind = ["127.0.0.1"];
        settings.Network.Port = 0;
        settings.Network.AnyPort = true;
        settings.Network.ReactorThreads = 2;
        settings.Persistence.AppendOnly = directory is not null;
        settings.Persistence.AppendSync = sync;
        adjust?.Invoke(settings);
        Server = new RespServer(settings, table, lines ?? NullLogger.Instance, new GivenParts { Clock = clock ?? SystemClock.Instance, Log = log, Directory = directory });
        Server.Start();
        _client = new TcpClient("127.0.0.1", Server.Port) { NoDelay = true };
    }

    internal RespServer Server { get; }

    /// <summary>Another connection.</summary>
    internal TcpClient Connect() => new("127.0.0.1", Server.Port) { NoDelay = true };

    /// <summary>Sends bytes of the protocol and reads until the answer ends in the given text.</summary>
    internal string Send(string bytes, string until) => Send(_client, bytes, until);

    /// <summary>The same on another connection.</summary>
    internal static string Send(TcpClient client, string bytes, string until)
    {
        NetworkStream stream = client.GetStream();
        stream.Write(Encoding.Latin1.GetBytes(bytes));
        var answer = new StringBuilder();
        byte[] buffer = new byte[16 * 1024];
        while (!EndsWith(answer, until))
        {
            int got = stream.Read(buffer);
            if (got == 0) throw new IOException("the server closed the connection after: " + answer);
            answer.Append(Encoding.Latin1.GetString(buffer, 0, got));
        }

        return answer.ToString();
    }

    public void Dispose()
    {
        _client.Dispose();
        Server.Dispose();
    }

    private static bool EndsWith(StringBuilder text, string end) => text.Length >= end.Length && text.ToString(text.Length - end.Length, end.Length) == end;
}
