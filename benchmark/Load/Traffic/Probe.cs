using System.Buffers.Text;
using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Garnet.Load.Traffic;

/// <summary>One connection that sends a command and waits for its reply, for measurements of single steps.</summary>
internal sealed class Probe : IDisposable
{
    private const int TimeoutMs = 30_000;

    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true, ReceiveTimeout = TimeoutMs };
    private readonly byte[] _reply = new byte[64 * 1024];

    public Probe(IPEndPoint server, string opening = "")
    {
        _socket.Connect(server);
        if (opening.Length > 0) Call(opening);
    }

    /// <summary>A request of words without blanks.</summary>
    public static byte[] Request(string command)
    {
        string[] words = command.Split(' ');
        return Encoding.ASCII.GetBytes($"*{words.Length}\r\n" + string.Concat(words.Select(static word => $"${word.Length}\r\n{word}\r\n")));
    }

    /// <summary>The reply's line, or what a bulk string holds; null for none.</summary>
    public string? Call(string command) => Call(Request(command));

    public string? Call(byte[] request)
    {
        _socket.Send(request);
        int got = 0;
        do
        {
            int more = _socket.Receive(_reply, got, _reply.Length - got, SocketFlags.None);
            if (more == 0) throw new IOException("the server closed the connection");
            got += more;
        }
        while (!IsWhole(_reply.AsSpan(0, got)));
        string text = Encoding.ASCII.GetString(_reply, 0, got);
        if (text[0] != '$') return text[..^2];
        return text.StartsWith("$-1", StringComparison.Ordinal) ? null : text[(text.IndexOf('\n', StringComparison.Ordinal) + 1)..^2];
    }

    public void Dispose() => _socket.Dispose();

    private static bool IsWhole(ReadOnlySpan<byte> reply)
    {
        int line = reply.IndexOf((byte)'\n') + 1;
        if (line == 0) return false;
        if (reply[0] != '$') return true;
        Utf8Parser.TryParse(reply[1..], out int bytes, out _);
        return bytes < 0 || reply.Length >= line + bytes + 2;
    }
}
