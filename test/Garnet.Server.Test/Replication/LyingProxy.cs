using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using Garnet.Aof.Format;
using Garnet.Replication.Frames;
using Garnet.Server.Test.Hostile;

namespace Garnet.Server.Test.Replication;

/// <summary>
/// Stands between a replica and its primary, understands what they say, and lies: any field of any frame of either side may be another
/// one, under checksums that hold.
/// </summary>
internal sealed class LyingProxy : IDisposable
{
    private const int BodyBytesMax = 64 << 20, CrcAt = 60, BodyCrcAt = 44;

    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly List<Socket> _open = [];
    private readonly int _primary;
    private readonly Random _random;
    private int _lies;

    /// <param name="primary">The primary's port.</param>
    /// <param name="random">What the lies come from; used by one thread at a time.</param>
    public LyingProxy(int primary, Random random)
    {
        (_primary, _random) = (primary, random);
        _listener.Start();
        TestThread.Begin(AcceptAll);
    }

    public int Port => ((IPEndPoint)_listener.LocalEndpoint).Port;

    /// <summary>Frames changed so far.</summary>
    public int Lies => Volatile.Read(ref _lies);

    public void Dispose()
    {
        _listener.Dispose();
        lock (_open)
        {
            foreach (Socket socket in _open) socket.Dispose();
        }
    }

    private void AcceptAll()
    {
        try
        {
            while (true) Join(_listener.AcceptSocket());
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException or InvalidOperationException)
        {
            // closed
        }
    }

    private void Join(Socket replica)
    {
        var primary = new Socket(SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        primary.Connect(IPAddress.Loopback, _primary);
        lock (_open) _open.AddRange([replica, primary]);
        TestThread.Begin(() => PassAll(replica, primary, PassGreeting));
        TestThread.Begin(() => PassAll(primary, replica, static (from, to) => to.Write(Line(from))));
    }

    private void PassAll(Socket from, Socket to, Action<NetworkStream, NetworkStream> passGreeting)
    {
        try
        {
            using NetworkStream source = new(from), target = new(to);
            passGreeting(source, target);
            byte[] header = new byte[FrameFormat.HeaderBytes];
            while (true)
            {
                source.ReadExactly(header);
                int bytes = (int)Math.Min(BinaryPrimitives.ReadUInt32LittleEndian(header.AsSpan(8)), BodyBytesMax);
                byte[] body = new byte[bytes];
                source.ReadExactly(body);
                target.Write(Next(header, body));
            }
        }
        catch (Exception e) when (e is IOException or SocketException or ObjectDisposedException)
        {
            from.Dispose(); // either side has had enough
            to.Dispose();
        }
    }

    private byte[] Next(byte[] header, byte[] body)
    {
        lock (_random)
        {
            if (_random.Next(6) != 0) return [.. header, .. body];
            Interlocked.Increment(ref _lies);
            var kind = (FrameKind)header[5];
            byte[] changed = kind is FrameKind.Batch && body.Length >= BatchHeader.Bytes ? OfBatch(body) : Spoiler.Spoil(body, _random);
            byte[] frame = new byte[FrameFormat.HeaderBytes];
            FrameFormat.Write(frame, _random.Next(20) == 0 ? (FrameKind)_random.Next(12) : kind, changed, []);
            if (_random.Next(20) == 0) BinaryPrimitives.WriteUInt32LittleEndian(frame.AsSpan(8), (uint)_random.NextInt64(uint.MaxValue)); // and never comes
            return [.. frame, .. changed];
        }
    }

    // A part of a batch: its header or its body, with both of its checksums.
    private byte[] OfBatch(byte[] part)
    {
        byte[] head = part[..BatchHeader.Bytes], body = part[BatchHeader.Bytes..];
        if (_random.Next(2) == 0 || body.Length == 0) head[4 + _random.Next(BodyCrcAt - 4)] = (byte)_random.Next(256);
        else body = Spoiler.Spoil(body, _random);
        BinaryPrimitives.WriteUInt32LittleEndian(head.AsSpan(BodyCrcAt), Crc32C.Of(body));
        BinaryPrimitives.WriteUInt32LittleEndian(head.AsSpan(CrcAt), Crc32C.Of(head.AsSpan(0, CrcAt)));
        return [.. head, .. body];
    }

    // A command, as an array of strings.
    private static void PassGreeting(NetworkStream from, NetworkStream to)
    {
        byte[] first = Line(from);
        to.Write(first);
        int words = int.Parse(System.Text.Encoding.ASCII.GetString(first.AsSpan(1)).TrimEnd());
        for (int line = 0; line < 2 * words; line++) to.Write(Line(from));
    }

    private static byte[] Line(NetworkStream from)
    {
        List<byte> line = [];
        while (line.Count == 0 || line[^1] != '\n')
        {
            int next = from.ReadByte();
            if (next < 0) throw new IOException("closed");
            line.Add((byte)next);
        }
        return [.. line];
    }
}
