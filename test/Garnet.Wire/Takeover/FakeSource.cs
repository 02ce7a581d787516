using System.Net;
using System.Net.Sockets;
using System.Text;
using Garnet.Server.Test;

namespace Garnet.Wire.Takeover;

/// <summary>Stands where a Redis is expected, and says what a test wants it to: a script has the words of a request and gives the pieces of the answer.</summary>
internal sealed class FakeSource : IDisposable
{
    public const string History = "0123456789abcdef0123456789abcdef01234567";

    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly Func<string[], IEnumerable<byte[]>?> _script;
    private readonly List<Socket> _open = [];
    private bool _isClosed;

    /// <param name="script">Null: what a Redis says to PING, AUTH, REPLCONF and INFO.</param>
    public FakeSource(Func<string[], IEnumerable<byte[]>?> script)
    {
        _script = script;
        _listener.Start();
        TestThread.Begin(AcceptAll);
    }

    /// <summary>A word whose answer ends the connection.</summary>
    public string EndsBehind { get; init; } = "";

    public EndPoint Address => _listener.LocalEndpoint;

    /// <summary>One that only has an answer to PSYNC.</summary>
    public static FakeSource OfData(byte[] answer, string endsBehind = "PSYNC") =>
        new(words => words[0] == "PSYNC" ? [answer] : null) { EndsBehind = endsBehind };

    public static byte[] Latin(string text) => Encoding.Latin1.GetBytes(text);

    public void Dispose()
    {
        lock (_open)
        {
            _isClosed = true;
            foreach (Socket socket in _open) socket.Dispose();
        }
        _listener.Dispose();
    }

    private void AcceptAll()
    {
        try
        {
            while (true)
            {
                Socket socket = _listener.AcceptSocket();
                lock (_open)
                {
                    _open.Add(socket);
                    if (_isClosed) socket.Dispose();
                }
                TestThread.Begin(() => Answer(socket));
            }
        }
        catch (Exception e) when (e is SocketException or InvalidOperationException)
        {
            // closed
        }
    }

    private void Answer(Socket socket)
    {
        try
        {
            using var reader = new StreamReader(new NetworkStream(socket), Encoding.Latin1);
            while (reader.ReadLine() is { } head)
            {
                if (head.Length == 0) continue; // "I am still here"
                string[] words = new string[int.Parse(head[1..])];
                for (int i = 0; i < words.Length; i++)
                {
                    reader.ReadLine();
                    words[i] = reader.ReadLine() ?? "";
                }
                foreach (byte[] piece in _script(words) ?? [Latin(Usual(words))]) SendAll(socket, piece);
                if (words[0] != EndsBehind) continue;
                socket.Dispose();
                return;
            }
        }
        catch (Exception e) when (e is IOException or SocketException or ObjectDisposedException)
        {
            // gone
        }
    }

    private static void SendAll(Socket socket, byte[] piece)
    {
        for (int sent = 0; sent < piece.Length;) sent += socket.Send(piece, sent, piece.Length - sent, SocketFlags.None);
    }

    private static string Usual(string[] words) => words[0] switch
    {
        "PING" => "+PONG\r\n",
        "INFO" => "$36\r\nrole:master\r\nmaster_repl_offset:1000\r\n",
        "REPLCONF" when words[1] == "ACK" => "",
        _ => "+OK\r\n",
    };
}
