using System.Globalization;
using System.Net.Sockets;
using System.Text;

namespace Garnet.Load.Compare.Bulk;

/// <summary>By SET and GET over a socket, from and to memory that is there already.</summary>
internal sealed class SocketWay : IBulkWay
{
    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
    private readonly byte[] _head = new byte[64];
    private byte[] _value = [];

    public SocketWay(RunningPeer server)
    {
        (Name, ServerPid) = ($"{server.Peer.Name}, SET and GET", server.Pid);
        _socket.Connect(server.Server);
    }

    public string Name { get; }

    public int ServerPid { get; }

    public void Prepare(int size)
    {
        if (_value.Length == size) return;
        _value = new byte[size];
        _value.AsSpan().Fill((byte)'b');
    }

    public void Put(string key, int size)
    {
        byte[] before = Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"*3\r\n$3\r\nSET\r\n${key.Length}\r\n{key}\r\n${size}\r\n"));
        List<ArraySegment<byte>> parts = [before, new ArraySegment<byte>(_value, 0, size), "\r\n"u8.ToArray()];
        for (int left = parts.Sum(static part => part.Count); left > 0;)
        {
            int sent = _socket.Send(parts);
            left -= sent;
            while (sent > 0)
            {
                int some = Math.Min(sent, parts[0].Count);
                sent -= some;
                if (some == parts[0].Count) parts.RemoveAt(0);
                else parts[0] = parts[0][some..];
            }
        }

        Expect("+OK\r\n", []);
    }

    public void Get(string key, int size)
    {
        _socket.Send(Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"*2\r\n$3\r\nGET\r\n${key.Length}\r\n{key}\r\n")));
        Expect(string.Create(CultureInfo.InvariantCulture, $"${size}\r\n"), _value);
        Expect("\r\n", []);
    }

    public void Dispose() => _socket.Dispose();

    // What comes behind the expected line goes where it belongs.
    private void Expect(string line, byte[] behind)
    {
        Fill(_head.AsSpan(0, line.Length));
        if (Encoding.ASCII.GetString(_head, 0, line.Length) != line) throw new InvalidDataException(Encoding.ASCII.GetString(_head));
        Fill(behind);
    }

    private void Fill(Span<byte> to)
    {
        while (to.Length > 0)
        {
            int got = _socket.Receive(to);
            if (got == 0) throw new EndOfStreamException();
            to = to[got..];
        }
    }
}
