using System.Buffers;
using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace Garnet.Server.Test;

/// <summary>A connection that reads one reply at a time, as text: simple and bulk strings bare, nil as <c>nil</c>, aggregates in brackets.</summary>
internal sealed class TestClient : IDisposable
{
    private const int LongestHead = 13; // a sign, a number of 32 bits and the end of the line

    private readonly TcpClient _socket;
    private readonly BufferedStream _stream;

    internal TestClient(int port)
    {
        _socket = new TcpClient("127.0.0.1", port) { NoDelay = true, ReceiveTimeout = 60_000 };
        _stream = new BufferedStream(_socket.GetStream(), 16 * 1024);
    }

    private static ReadOnlySpan<byte> End => "\r\n"u8;

    /// <summary>Messages that came before replies.</summary>
    internal List<string> Pushes { get; } = [];

    /// <summary>Called for every message, in place of keeping it.</summary>
    internal Action<string>? OnPush { get; set; }

    /// <summary>Sends a command and reads its reply; messages before it are kept.</summary>
    internal string Call(params string[] words)
    {
        Send(words);
        while (true)
        {
            string reply = Read(out bool push);
            if (!push) return reply;
            if (OnPush is { } handler) handler(reply);
            else Pushes.Add(reply);
        }
    }

    internal void Send(params string[] words)
    {
        Send(1, [words]);
    }

    /// <summary>True if a part of a reply at least has come.</summary>
    internal bool HasReply => _socket.Available > 0;

    /// <summary>Sends nothing more; replies can still come.</summary>
    internal void EndSide() => _socket.Client.Shutdown(SocketShutdown.Send);

    /// <summary>True if nothing more comes; waits for either.</summary>
    internal bool IsAtEnd() => _stream.ReadByte() < 0;

    /// <summary>Sends the commands so many times over at once and reads the replies.</summary>
    internal string[] Pipeline(int times, params string[][] commands)
    {
        Send(times, commands);
        return [.. Enumerable.Range(0, times * commands.Length).Select(_ => Read())];
    }

    /// <summary>The next reply or message.</summary>
    internal string Read() => Read(out _);

    public void Dispose()
    {
        _stream.Dispose();
        _socket.Dispose();
    }

    // Straight into bytes: some requests have a hundred thousand words, or words of megabytes.
    private void Send(int times, string[][] commands)
    {
        int most = times * commands.Sum(static words => LongestHead + words.Sum(static word => LongestHead + word.Length + End.Length));
        byte[] bytes = ArrayPool<byte>.Shared.Rent(most);
        int at = 0;
        for (int i = 0; i < times; i++)
        {
            foreach (string[] words in commands) Write(bytes, ref at, words);
        }

        _socket.GetStream().Write(bytes, 0, at);
        ArrayPool<byte>.Shared.Return(bytes);
    }

    private static void Write(Span<byte> bytes, ref int at, string[] words)
    {
        WriteHead(bytes, ref at, '*', words.Length);
        foreach (string word in words)
        {
            WriteHead(bytes, ref at, '$', word.Length);
            at += Encoding.Latin1.GetBytes(word, bytes[at..]);
            End.CopyTo(bytes[at..]);
            at += End.Length;
        }
    }

    private static void WriteHead(Span<byte> bytes, ref int at, char kind, int number)
    {
        bytes[at++] = (byte)kind;
        number.TryFormat(bytes[at..], out int digits, default, CultureInfo.InvariantCulture);
        at += digits;
        End.CopyTo(bytes[at..]);
        at += End.Length;
    }

    private string Read(out bool push)
    {
        string line = Line();
        push = line[0] == '>';
        int count = line[0] is '$' or '*' or '~' or '>' or '%' or '=' ? int.Parse(line.AsSpan(1), CultureInfo.InvariantCulture) : 0;
        switch (line[0])
        {
            case '_':
                return "nil";
            case '$' or '=' when count >= 0:
                byte[] bytes = new byte[count + 2];
                _stream.ReadExactly(bytes);
                return Encoding.Latin1.GetString(bytes, 0, count);
            case '$' or '*' when count < 0:
                return "nil";
            case '*' or '~' or '>' or '%':
                return "[" + string.Join(' ', Enumerable.Range(0, line[0] == '%' ? count * 2 : count).Select(_ => Read(out bool _))) + "]";
            default:
                return line[1..];
        }
    }

    private string Line()
    {
        var text = new StringBuilder();
        while (true)
        {
            int letter = _stream.ReadByte();
            if (letter < 0) throw new IOException("the server closed the connection");
            if (letter == '\n') return text.ToString().TrimEnd('\r');
            text.Append((char)letter);
        }
    }
}
