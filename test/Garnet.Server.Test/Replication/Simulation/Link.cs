using Garnet.Common.Resp;
using Garnet.Common.Time;
using Garnet.Replication;
using Garnet.Server.Replication;
using Garnet.Replication.Frames;

namespace Garnet.Server.Test.Replication.Simulation;

/// <summary>A connection between a replica and its primary: bytes under way in one direction, acknowledgements in the other.</summary>
internal sealed class Link : IDisposable
{
    private readonly Node _replica;
    private readonly ReplicaLink _sender;
    private readonly PrimaryLink _receiver;
    private readonly FrameReader _fromPrimary = FrameReader.OfPrimary(), _fromReplica = FrameReader.OfReplica();
    private readonly FrameWriter _out = new(), _acks = new();
    private readonly Queue<byte> _underWay = new();

    public Link(Node primary, Node replica, IClock clock, Action<PlanFrame> onPlan)
    {
        (Primary, _replica) = (primary, replica);
        _sender = new ReplicaLink(primary, new HelloFacts(replica.RunId, "simulated", 1, replica.Follower!.Position, replica.Follower.Earlier), clock);
        _receiver = new PrimaryLink(replica.Follower!, onPlan, static _ => { });
    }

    public Node Primary { get; }

    /// <summary>What the replica has said of itself, whether it counts or not.</summary>
    public AckFrame Claimed { get; private set; }

    /// <summary>What the primary believes of that.</summary>
    public bool HasApplied(uint term, ulong batch) => _sender.HasApplied(term, batch);

    public bool IsOver { get; private set; }

    public string Reason => _receiver.Fault ?? _sender.EndReason;

    public int UnderWay => _underWay.Count;

    /// <summary>Batches come in.</summary>
    public bool IsStreaming => _receiver.IsStreaming;

    /// <summary>The primary sends.</summary>
    public void Send()
    {
        _sender.Fill(_out);
        foreach (byte b in _out.Bytes) _underWay.Enqueue(b);
        _out.Clear();
        IsOver |= _sender.Stage == LinkStage.Ended;
    }

    /// <summary>So many bytes arrive.</summary>
    public void Deliver(int bytes)
    {
        Span<byte> room = _fromPrimary.Room();
        int got = 0;
        while (got < Math.Min(bytes, room.Length) && _underWay.TryDequeue(out byte b)) room[got++] = b;
        _fromPrimary.Arrived(got);
        IsOver |= !_receiver.Take(_fromPrimary) || (_receiver.IsStreaming && _replica.Follower!.IsTorn);
    }

    /// <summary>The replica says how far it is; if it does not keep to the order, also of what it had before it was told its plan.</summary>
    public void Acknowledge(bool early = false)
    {
        if (!_receiver.IsStreaming && !early) return;
        Span<byte> body = stackalloc byte[AckFrame.Bytes];
        Claimed = early ? _replica.Follower!.Ack() : _receiver.Ack();
        Claimed.Write(body);
        _acks.Add(FrameKind.Ack, body);
        _acks.Bytes.CopyTo(_fromReplica.Room());
        _fromReplica.Arrived(_acks.Count);
        _acks.Clear();
        IsOver |= !_sender.Take(_fromReplica);
    }

    public void Dispose()
    {
        _sender.Dispose();
        _fromPrimary.Dispose();
        _fromReplica.Dispose();
        _out.Dispose();
        _acks.Dispose();
        _replica.Follower?.Disconnect();
    }
}
