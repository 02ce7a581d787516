using System.Net.Sockets;
using System.Text;
using Garnet.Common.Resp;
using Garnet.Replication.Frames;

namespace Garnet.Server.Test.Replication;

/// <summary>Greets a primary as a replica does, says what it is told to say, and takes nothing in but for what it is asked to wait for.</summary>
internal sealed class StrangeReplica : IDisposable
{
    private readonly TcpClient _client;
    private readonly NetworkStream _stream;
    private readonly FrameReader _frames = FrameReader.OfPrimary();

    /// <summary>Greets with the position as it stands.</summary>
    public StrangeReplica(int port, string position)
    {
        _client = new TcpClient("127.0.0.1", port) { ReceiveTimeout = ReplicaGroup.WaitMs, NoDelay = true };
        _stream = _client.GetStream();
        string[] words = ["REPL", "HELLO", FrameFormat.Protocol, new string('b', 40), "1", "-", position];
        _stream.Write(Encoding.ASCII.GetBytes($"*{words.Length}\r\n" + string.Concat(words.Select(static word => $"${word.Length}\r\n{word}\r\n"))));
        Greeting = ReadLine();
    }

    /// <summary>The answer to the greeting.</summary>
    public string Greeting { get; }

    /// <summary>Reads frames up to one of a kind; its body.</summary>
    public byte[] Await(FrameKind wanted)
    {
        while (true)
        {
            while (_frames.TryNext(out FrameKind kind, out ReadOnlySpan<byte> body))
            {
                if (kind == wanted) return body.ToArray();
            }
            if (_frames.Fault is { } fault) throw new IOException(fault);
            int got = _stream.Read(_frames.Room());
            if (got == 0) throw new IOException($"the primary closed before a frame of kind {wanted}");
            _frames.Arrived(got);
        }
    }

    public void Send(AckFrame ack)
    {
        byte[] body = new byte[AckFrame.Bytes];
        ack.Write(body);
        var writer = new FrameWriter();
        writer.Add(FrameKind.Ack, body);
        _stream.Write(writer.Bytes);
    }

    public void Dispose() => _client.Dispose();

    private string ReadLine()
    {
        var line = new StringBuilder();
        while (_stream.ReadByte() is var one && one is not '\n' and not -1) line.Append((char)one);
        return line.ToString().TrimEnd('\r');
    }
}
