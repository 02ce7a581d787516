using System.Net.Sockets;
using System.Text;
using Garnet.Aof.Disk;
using Garnet.Common;
using Garnet.Replication;
using Garnet.Server.Base;
using Garnet.Replication.Frames;

namespace Garnet.Server.Replication;

/// <summary>
/// Drives a <see cref="ReplicaLink"/> over a socket: one thread sends what the link has, another takes what comes. The link's own
/// lock keeps them apart.
///
/// replication.P5  What fails on a link ends the link, whatever it is: what the disk says, what does not fit into a frame, a broken connection. Only what cannot
///     be without a fault of ours (Check) ends more.
/// </summary>
internal sealed class ReplicaThreads : IDisposable
{
    private const int LookMs = 100;
    private readonly ReplicaLink _link;
    private readonly LinkSocket _socket;
    private readonly ReplicaLinks _links;
    private readonly ResumableCopy _resumable;
    private readonly Func<int> _keepMs;
    private readonly int _role;
    private readonly Signal _signal = new();
    private readonly Lock _gate = new();
    private readonly Thread _sender, _receiver;
    private readonly FrameWriter _writer = new();
    private readonly FrameReader _reader = FrameReader.OfReplica();
    private byte[] _greeting = [];

    internal ReplicaThreads(ReplicaLink link, LinkSocket socket, ReplicaLinks links, ResumableCopy resumable, Func<int> keepMs)
    {
        (_link, _socket, _links, _resumable, _keepMs) = (link, socket, links, resumable, keepMs);
        _role = resumable.Role;
        _sender = BackgroundThread.Of("replica sender", SendLoop, EndBy);
        _receiver = BackgroundThread.Of("replica receiver", ReceiveLoop, EndBy);
    }

    /// <summary>The link.</summary>
    internal ReplicaLink Link => _link;

    /// <summary>True if who greeted is nobody any more.</summary>
    internal bool HasLostUser => _socket.HasLostUser;

    /// <summary>Memory for frames on their way.</summary>
    internal long MemoryBytes => _writer.Capacity + _reader.Capacity;

    /// <summary>Begins, by the answer to the replica's greeting; on the link's own threads, for the connection may be broken already.</summary>
    internal void Start(string greeting)
    {
        _greeting = Encoding.ASCII.GetBytes(greeting);
        _sender.Start();
        _receiver.Start();
    }

    /// <summary>There may be more to send.</summary>
    internal void Nudge() => _signal.Set();

    /// <summary>Ends the link, telling the replica why; returns at once.</summary>
    internal void End(string reason)
    {
        lock (_gate)
            _link.End(reason);
        _signal.Set();
    }

    /// <summary>Waits for the threads; after <see cref="End"/>.</summary>
    public void Dispose()
    {
        _socket.Dispose();
        _signal.Set();
        if (_sender.IsAlive)
            _sender.Join();
        if (_receiver.IsAlive)
            _receiver.Join();
    }

    private void SendLoop()
    {
        using FrameWriter writer = _writer;
        try
        {
            _socket.Send(_greeting);
            while (_link.Stage != LinkStage.Ended)
            {
                if (_link.Stage == LinkStage.Snapshot)
                    SteppedBack.Run("replica copy", () => Send(writer, isCopy: true));
                else
                    Send(writer, isCopy: false);
            }

            _link.Farewell(writer);
            _socket.Send(writer);
        }
        catch (Exception e) when (LinkSocket.IsOfLink(e))
        {
            EndBy(e);
        }

        _socket.Dispose();
        FullCopy? copy;
        lock (_gate)
        {
            copy = _keepMs() > 0 ? _link.TakeCopy() : null;
            if (_link.LeavesPlace)
                _links.KeepPlace(_link);
            _link.Dispose();
        }

        if (copy is not null)
            _resumable.Put(_link.Hello.RunId, copy, _role); // before the link is gone: its replica may be waiting for that
        _links.Remove(this);
        if (copy is not null)
            _resumable.Await(copy, _keepMs());
    }

    // As long as it is a snapshot that is sent, or is none.
    private void Send(FrameWriter writer, bool isCopy)
    {
        while (_link.Stage is var stage && stage != LinkStage.Ended && (stage == LinkStage.Snapshot) == isCopy)
        {
            bool more;
            lock (_gate)
                more = _link.Fill(writer);
            if (writer.Count > 0)
            {
                _socket.Send(writer);
                Thread.Yield(); // where cores are few, those who serve clients wait for a frame of this and not for a time slice
            }
            else if (!more && _link.Stage != LinkStage.Ended)
            {
                _signal.Wait(LookMs);
            }
        }
    }

    private void ReceiveLoop()
    {
        using FrameReader reader = _reader;
        try
        {
            while (true)
            {
                int got = _socket.Receive(reader.Room());
                if (got == 0)
                    break;
                reader.Arrived(got);
                lock (_gate)
                {
                    if (!_link.Take(reader))
                        break;
                }

                _signal.Set(); // there may be room for more
            }

            Break("the replica closed the connection");
        }
        catch (Exception e) when (LinkSocket.IsOfLink(e))
        {
            EndBy(e);
        }
    }

    /// <summary>Ends the link because its connection is of no use any more; returns at once.</summary>
    internal void Break(string reason)
    {
        lock (_gate)
            _link.Break(reason);
        _socket.Dispose();
        _signal.Set();
    }

    private void EndBy(Exception e) => Break(e is SocketException { SocketErrorCode: SocketError.TimedOut or SocketError.WouldBlock }
        ? "nothing was heard of the replica for repl-timeout, or it took nothing"
        : e is DiskException ? "the log cannot be read back: " + e.Message
        : e is GarnetException ? e.Message : "the connection broke: " + e.Message);
}
