using System.Net.Sockets;
using Garnet.Aof;
using Garnet.Common.Time;
using Garnet.Replication;
using Garnet.Server.Base;

namespace Garnet.Server.Replication;

/// <summary>
/// A primary gives its place to a replica. Its log has ended by now, so that what the replica must have is fixed; the one that has all
/// of it is told to lead, by a command on a connection of its own, and is asked again until it has answered: a lost
/// answer must leave neither two primaries nor none.
/// </summary>
internal sealed class Handover(ReplicaLinks links, string runId, HandoverOrder order, ReplicationSettings settings, IClock clock)
{
    private const int LookMs = 20, AskMs = 2000, PauseMs = 100;
    private readonly Signal _signal = new();
    private volatile bool _isAborted, _isAsking;

    /// <summary>What is wanted.</summary>
    internal HandoverOrder Order => order;

    /// <summary>Why it did not come to its end.</summary>
    internal string Reason { get; private set; } = "it was aborted";

    /// <summary>State in INFO's words.</summary>
    internal string State => _isAsking ? "failover-in-progress" : "waiting-for-sync";

    /// <summary>Ends it; from any thread. If the replica has been told already, it may lead all the same.</summary>
    internal void Abort()
    {
        _isAborted = true;
        _signal.Set();
    }

    /// <summary>A replica has acknowledged something.</summary>
    internal void OnAck() => _signal.Set();

    /// <summary>The replica that leads now; null if none does (<see cref="Reason"/>).</summary>
    internal Peer? Run(LogPosition end)
    {
        Peer? target = AwaitTarget(end);
        _isAsking = target is not null;
        long fromUs = clock.MonotonicUs;
        // Who stops does not lead on, so that there cannot be two: it need not know the answer, and its time is bounded.
        while (target is not null && !_isAborted && (order.Then is null || clock.MonotonicUs - fromUs < order.TimeoutMs * 1000))
        {
            bool? answer = Ask(target, end);
            if (answer is not null)
                return answer.Value ? target : null;
            _signal.Wait(PauseMs);
        }

        return null;
    }

    private Peer? AwaitTarget(LogPosition end)
    {
        long fromUs = clock.MonotonicUs;
        while (!_isAborted)
        {
            if (links.All.FirstOrDefault(one => Suits(one.Link) && one.Link.Ack.Received >= end.Batch) is { } found)
                return new Peer(found.Link.Hello.Address, found.Link.Hello.Port);
            if (order.TimeoutMs > 0 && clock.MonotonicUs - fromUs >= order.TimeoutMs * 1000)
            {
                Reason = "no replica had everything in time";
                return order.IsForced ? order.Target : null;
            }

            _signal.Wait(LookMs);
        }

        return null;
    }

    private bool Suits(ReplicaLink link) => link.Stage == LinkStage.Streaming && order.IsFor(link.Hello);

    // Null if it is not known what it answered.
    private bool? Ask(Peer target, LogPosition end)
    {
        try
        {
            using LinkSocket socket = LinkSocket.Connect(target, AskMs, links.Traffic, links.Keys);
            socket.Authenticate(settings.Credentials);
            string answer = socket.Call(["REPL", "LEAD", runId, end.ToString(), .. order.IsForced ? (string[])["FORCE"] : []]);
            Reason = $"{target} answered {answer}";
            return answer == "+OK" ? true : answer.StartsWith('-') ? false : null;
        }
        catch (Exception e) when (e is SocketException or IOException)
        {
            Reason = $"{target} cannot be told: {e.Message}";
            return null;
        }
    }
}
