using System.Globalization;
using Garnet.Load.Traffic;

namespace Garnet.Load.Compare.Replicas;

/// <summary>A primary and a replica of one system, linked and the same.</summary>
internal sealed class LinkedPair : IDisposable
{
    private const double ReadySeconds = 120;
    private const int LookMs = 2;

    private int _marks;

    private LinkedPair(RunningPeer primary, RunningPeer replica) => (Primary, Replica) = (primary, replica);

    public RunningPeer Primary { get; }

    public RunningPeer Replica { get; }

    public string Name => Primary.Peer.System;

    /// <summary>What a connection to the replica begins with.</summary>
    public string Opening => IsCluster ? "READONLY" : "";

    /// <summary>True if the two are nodes of a cluster.</summary>
    public bool IsCluster => Name == "garnet-p2";

    /// <summary>Starts both; flags are added to those of the system.</summary>
    public static LinkedPair Start(Peer peer, CompareOptions options, string primaryFlags = "", string replicaFlags = "")
    {
        LinkedPair pair = StartApart(peer, options, primaryFlags, replicaFlags);
        pair.Link();
        return pair;
    }

    /// <summary>Starts both and does not link them yet.</summary>
    public static LinkedPair StartApart(Peer peer, CompareOptions options, string primaryFlags = "", string replicaFlags = "")
    {
        RunningPeer primary = StartOne(peer, "primary", primaryFlags, options.ServerCore);
        try
        {
            LinkedPair pair = new(primary, StartOne(peer, "replica", replicaFlags, options.ReplicaCore));
            if (pair.IsCluster) pair.JoinNodes();
            return pair;
        }
        catch
        {
            primary.Dispose();
            throw;
        }
    }

    /// <summary>Makes the one a replica of the other and waits until it holds the same.</summary>
    public void Link()
    {
        if (IsCluster) FollowNode();
        else Replica.Ask($"REPLICAOF 127.0.0.1 {Primary.Server.Port}");
        Await(() => IsCluster || Replica.Field("replication", "master_link_status") == "up", "the link did not come up");
        AwaitSame();
    }

    /// <summary>Waits until the replica shows what is written now.</summary>
    public void AwaitSame()
    {
        string mark = string.Create(CultureInfo.InvariantCulture, $"{Environment.ProcessId}-{++_marks}");
        using Probe writer = new(Primary.Server), reader = new(Replica.Server, Opening);
        if (writer.Call("SET mark " + mark) is var answer && answer != "+OK") throw new InvalidDataException($"{Name} answered {answer}");
        byte[] question = Probe.Request("GET mark");
        Await(() => reader.Call(question) == mark, "the replica did not catch up");
    }

    public void Dispose()
    {
        Replica.Dispose();
        Primary.Dispose();
    }

    private static RunningPeer StartOne(Peer peer, string role, string flags, int core)
    {
        // A plus sign gives it a directory of its own.
        Peer one = peer with { Name = $"{peer.Name}+{role}", Flags = string.Join(' ', peer.Flags, peer.System == "redis" ? "--dir {1}" : "", flags) };
        one.Clear();
        return RunningPeer.Start(one, core);
    }

    private void JoinNodes()
    {
        using Probe primary = new(Primary.Server), replica = new(Replica.Server);
        primary.Call("CLUSTER ADDSLOTSRANGE 0 16383");
        primary.Call("CLUSTER SET-CONFIG-EPOCH 1");
        replica.Call("CLUSTER SET-CONFIG-EPOCH 2");
        primary.Call($"CLUSTER MEET 127.0.0.1 {Replica.Server.Port}");
    }

    private void FollowNode()
    {
        using Probe primary = new(Primary.Server), replica = new(Replica.Server);
        string id = primary.Call("CLUSTER MYID")!;
        Await(() => replica.Call("CLUSTER REPLICATE " + id) == "+OK", "the replica did not join");
    }

    private void Await(Func<bool> condition, string otherwise)
    {
        long from = System.Diagnostics.Stopwatch.GetTimestamp();
        while (!condition())
        {
            if (System.Diagnostics.Stopwatch.GetElapsedTime(from).TotalSeconds > ReadySeconds) throw new TimeoutException($"{Name}: {otherwise}");
            Thread.Sleep(LookMs);
        }
    }
}
