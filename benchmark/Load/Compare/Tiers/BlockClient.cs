using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace Garnet.Load.Compare.Tiers;

/// <summary>Reads the blocks of a request, a few at a time, and writes those that are not there.</summary>
internal sealed class BlockClient : IDisposable
{
    private const int AtOnce = 16;
    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
    private readonly byte[] _received = new byte[1 << 20];
    private readonly byte[] _value;
    private int _at, _end;

    public BlockClient(RunningPeer server, int blockBytes)
    {
        _value = Encoding.ASCII.GetBytes($"${blockBytes}\r\n{new string('b', blockBytes)}\r\n");
        _socket.Connect(server.Server);
    }

    /// <summary>Blocks that were there.</summary>
    public long Found { get; private set; }

    public void Use(int[] blocks)
    {
        List<int> missing = [];
        foreach (int[] some in blocks.Chunk(AtOnce))
        {
            missing.Clear();
            StringBuilder gets = new();
            foreach (int block in some) gets.Append(CultureInfo.InvariantCulture, $"*2\r\n$3\r\nGET\r\n$10\r\nb:{block:D8}\r\n");
            _socket.Send(Encoding.ASCII.GetBytes(gets.ToString()));
            foreach (int block in some)
            {
                if (Line() is "$-1") missing.Add(block);
                else Skip(_value.Length - Head);
            }
            Found += some.Length - missing.Count;
            foreach (int block in missing)
            {
                _socket.Send(Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"*3\r\n$3\r\nSET\r\n$10\r\nb:{block:D8}\r\n")));
                _socket.Send(_value);
            }
            foreach (int _ in missing)
            {
                if (Line() is not "+OK" and var refused) throw new InvalidDataException(refused);
            }
        }
    }

    public void Dispose() => _socket.Dispose();

    private int Head => Array.IndexOf(_value, (byte)'\n') + 1;

    private string Line()
    {
        StringBuilder line = new();
        while (true)
        {
            if (_at == _end) Receive();
            char next = (char)_received[_at++];
            if (next == '\n') return line.ToString();
            if (next != '\r') line.Append(next);
        }
    }

    private void Skip(int bytes)
    {
        while (bytes > 0)
        {
            if (_at == _end) Receive();
            int step = Math.Min(bytes, _end - _at);
            _at += step;
            bytes -= step;
        }
    }

    private void Receive()
    {
        _at = 0;
        _end = _socket.Receive(_received);
        if (_end == 0) throw new IOException("the server closed the connection");
    }
}
