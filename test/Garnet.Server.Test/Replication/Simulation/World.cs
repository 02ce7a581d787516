using Garnet.Aof.Shipping;
using Garnet.Aof.Test.Disk;
using Garnet.Aof.Test.Writing;
using Garnet.Common;
using Garnet.Common.Resp;
using Garnet.Replication;
using Garnet.Server.Replication;
using Garnet.Replication.Frames;
using Garnet.Wire.Consistency;

namespace Garnet.Server.Test.Replication.Simulation;

/// <summary>
/// A primary, two replicas and their clients on one thread: a seed decides whose turn it is, how many bytes of a link arrive, when a
/// link breaks, a server dies, and who is promoted. What a reader sees is compared with what the primary had written behind the batch
/// that the reader goes by; the whole history goes to the checker.
/// </summary>
internal sealed class World : IDisposable
{
    private const int Servers = 3, StepsMin = 600, StepsMax = 2400, SettleMax = 60_000, BytesAtOnce = 3000, TiersEvery = 2, DemotesEvery = 3;

    private readonly ManualClock _clock = new();
    private readonly Link?[] _links = new Link?[Servers];
    private readonly SimulatedDisk?[] _disks = new SimulatedDisk?[Servers];
    private readonly Lineage[] _lineages = new Lineage[Servers];
    private readonly Reader[] _readers;
    private readonly Writer[] _writers;
    private readonly TokenBearer _bearer;
    private readonly HeldClient _held;
    private readonly Random _tierRandom; // changes nothing of what the other decides
    private readonly bool _hasTiers;
    private int _primary;
    private bool _hasLost;
    private string? _failure;

    public World(int seed, SimulationFault fault, SimulationFigures figures)
    {
        (Random, Fault, Figures) = (new Random(seed), fault, figures);
        (_hasTiers, _tierRandom) = (seed % TiersEvery == 0, new Random(seed));
        for (int i = 0; i < Servers; i++)
        {
            _lineages[i] = new Lineage(null, 0);
            if (Random.Next(3) > 0) _disks[i] = new SimulatedDisk();
            Nodes[i] = new Node(i, _disks[i], _clock, Random, _hasTiers);
        }
        Nodes[0]!.Lead();
        for (int i = 1; i < Servers; i++) Nodes[i]!.BecomeFollower();
        _readers = [.. Enumerable.Range(0, 2 * Servers).Select(i => new Reader(this, i % Servers))];
        _bearer = new TokenBearer(this, new Random(seed));
        _held = new HeldClient(this, new Random(seed));
        _writers = [.. Enumerable.Range(0, SimulatedKeys.Writers).Select(i => new Writer(this, i))];
    }

    public Random Random { get; }
    public SimulationFault Fault { get; }
    public SimulationFigures Figures { get; }
    public History History { get; } = new();
    public Node?[] Nodes { get; } = new Node?[Servers];
    public Node? Primary => Nodes[_primary] is { Leads: true } node ? node : null;
    public long Now { get; private set; } = 1;
    public long Values { get; set; }

    public void Run()
    {
        for (int steps = Random.Next(StepsMin, StepsMax); steps > 0; steps--) Step();
        Settle();
        if (!_hasLost && Checker.Fault(History) is { } fault) throw new InvalidOperationException(fault);
    }

    /// <summary>A replica that is attached has applied the batch.</summary>
    public bool AppliedSomewhere(uint term, ulong batch) => _links.Any(link => link is { IsOver: false } && ReferenceEquals(link.Primary, Primary)
        && (Fault == SimulationFault.BelieveAcks ? link.Claimed.Applied >= batch : link.HasApplied(term, batch)));

    /// <summary>A write that is acknowledged is there: one that follows the primary has it, and shows it.</summary>
    public void CheckAcknowledged(Lineage lineage, ulong batch)
    {
        if (!Nodes.Any(node => node is { Follower.IsFed: true } && node.Lineage.Has(lineage, batch) && node.Applied.Number >= batch))
            Fail($"batch {batch} was acknowledged, and nobody who follows has it");
    }

    /// <summary>What a reader has seen must be so behind the batch it went by.</summary>
    public void Observe(Node node, ReadPoint point, int[] keys, long[] values)
    {
        for (int i = 0; i < keys.Length; i++)
        {
            long wanted = node.Lineage.ValueAt(keys[i], point.Number);
            if (values[i] != wanted)
                Fail($"behind batch {point.Number} server {node.Number} shows {SimulatedKeys.Name(keys[i])}={values[i]}, and it was {wanted}");
        }
    }

    /// <summary>Something is wrong; told after the turn, for within it locks may be held.</summary>
    public void Fail(string why) => _failure ??= why;

    public void Dispose()
    {
        foreach (Link? link in _links) link?.Dispose();
        foreach (Node? node in Nodes) node?.Dispose();
    }

    private void Step()
    {
        Now++;
        _bearer.Step();
        _held.Step();
        if (_hasTiers && _tierRandom.Next(DemotesEvery) == 0) Demote();
        int dice = Random.Next(1000);
        if (dice < 180) _writers[Random.Next(_writers.Length)].Step();
        else if (dice < 330) Nodes[Random.Next(Servers)]?.TurnLog();
        else if (dice < 620) StepLink(Random.Next(Servers));
        else if (dice < 700) Apply(Random.Next(Servers));
        else if (dice < 960) _readers[Random.Next(_readers.Length)].Step(inBatch: false);
        else if (dice < 980) _clock.Advance(Random.Next(1_500_000));
        else if (dice < 984) Cut(Random.Next(Servers));
        else if (dice < 986) Crash(Random.Next(Servers));
        else if (dice < 998) Restart(Random.Next(Servers));
        else Promote(Random.Next(Servers));
        if (_failure is { } failure) throw new InvalidOperationException(failure);
    }

    // Of any server, whether it leads, follows or is being filled: its tier is its own affair.
    private void Demote()
    {
        if (Nodes[_tierRandom.Next(Servers)]?.Demote(_tierRandom.Next(SimulatedKeys.Count)) == true) Figures.Demoted++;
    }

    private void StepLink(int i)
    {
        if (Nodes[i] is not { Follower: { } } replica) return;
        if (_links[i] is not { } link)
        {
            if (Primary is { } primary) _links[i] = new Link(primary, replica, _clock, plan => OnPlan(replica, primary, plan));
            return;
        }
        int dice = Random.Next(10);
        if (dice < 3) link.Send();
        else if (dice < 8) link.Deliver(Random.Next(1, BytesAtOnce));
        else link.Acknowledge(early: Random.Next(4) == 0);
        if (!link.IsOver) return;
        Figures.Faults++;
        Figures.Tell?.Invoke($"{Now} link of {i}: {link.Reason}");
        Hang(i);
    }

    private void OnPlan(Node replica, Node primary, PlanFrame plan)
    {
        if (plan.IsFull) Figures.Full++;
        else Figures.Partial++;
        Figures.Tell?.Invoke($"{Now} server {replica.Number} follows {primary.Number} {(plan.IsFull ? "anew" : "on")} from {plan.At}");
        replica.Next = primary.Lineage;
        replica.TermElsewhere = Math.Max(replica.TermElsewhere, plan.Term);
    }

    // Others read while the batch is half applied.
    private void Apply(int i)
    {
        if (Nodes[i] is not { Follower: { } follower }) return;
        PutNumber.Yield = () =>
        {
            Now++;
            for (int turns = Random.Next(4); turns > 0; turns--) _readers[i + (Servers * Random.Next(2))].Step(inBatch: true);
        };
        try
        {
            follower.Turn();
        }
        finally
        {
            PutNumber.Yield = null;
        }
        if ((_failure ?? follower.Failure) is { } failure) throw new InvalidOperationException(failure);
    }

    private void Cut(int i)
    {
        if (_links[i] is null) return;
        Figures.Cuts++;
        Hang(i);
    }

    private void Hang(int i)
    {
        _links[i]?.Dispose();
        _links[i] = null;
    }

    private void Crash(int i)
    {
        if (Nodes[i] is not { } node) return;
        Figures.Crashes++;
        Figures.ReadCold += node.Tier.Reads;
        for (int link = 0; link < Servers; link++)
            if (link == i || ReferenceEquals(_links[link]?.Primary, node)) Hang(link);
        Figures.Tell?.Invoke($"{Now} server {i} dies");
        _lineages[i] = node.Lineage;
        bool isInOrder = node is { Follower: { IsFed: true, IsTorn: false }, DataDisk: not null } && Random.Next(3) == 0;
        if (isInOrder) node.Stop();
        SimulatedDisk? left = isInOrder ? _disks[i]!.Copy() : _disks[i]?.Crash(Random.Next());
        ulong durable = isInOrder ? node.Current!.Durable : 0;
        node.Dispose();
        _disks[i] = left;
        Nodes[i] = null;
        if (isInOrder && durable > 0) StartDamaged(i, left!.Copy(), durable);
    }

    // Of a log that ended in order nothing may be missing unsaid, whatever a disk does to it.
    private void StartDamaged(int i, SimulatedDisk disk, ulong durable)
    {
        if (Fault == SimulationFault.NoProofs) Rot.EraseProofs(disk);
        if (!Rot.TryFlip(disk, durable, Random)) return;
        try
        {
            using var node = new Node(i, disk, _clock, Random, _hasTiers);
            if (node.Recovered < durable) throw new InvalidOperationException($"a damaged log that was durable up to batch {durable} was cut behind batch {node.Recovered}, and nothing said");
        }
        catch (GarnetException)
        {
            Figures.Rotten++; // refused, as it must be
        }
    }

    private void Restart(int i)
    {
        if (Nodes[i] is not null) return;
        var node = new Node(i, _disks[i], _clock, Random, _hasTiers) { Lineage = _lineages[i] };
        bool leads = i == _primary;
        if (leads && IsBehindAcknowledged(node.Lineage, node.Recovered) && !MayLose())
        {
            node.Dispose();
            _disks[i] = _disks[i]?.Copy();
            return; // a replica has more: it is to be promoted
        }
        Figures.Restarts++;
        Figures.Tell?.Invoke($"{Now} server {i} starts, batch {node.Recovered}");
        Nodes[i] = node;
        if (leads)
        {
            _hasLost = true; // what was in no file, clients may have seen on replicas
            node.Lead();
            Forget(node.Lineage);
        }
        else node.BecomeFollower();
    }

    // One that has all that was acknowledged is there to be promoted, or may come back.
    private bool MayLose() => Nodes.All(node => node is null || node.Follower is null || IsBehindAcknowledged(node.Lineage, node.Follower.Ack().Received));

    private bool IsBehindAcknowledged(Lineage lineage, ulong batch) => _writers.Any(writer => writer.Acknowledged.Any(write => !new Lineage(lineage, batch).Has(write.Lineage, write.Batch)));

    private void Promote(int i)
    {
        if (Nodes[i] is not { CanLead: true, Follower: { } follower } node || i == _primary) return;
        ulong received = follower.IsTorn || follower.IsDoubted ? node.Backlog.End.Batch : follower.Ack().Received;
        if (!MayLead(node, received)) return;
        Node? old = Nodes[_primary];
        Figures.Promotions++;
        Figures.Tell?.Invoke($"{Now} server {i} is promoted at batch {received}");
        for (int link = 0; link < Servers; link++) Hang(link);
        if (follower.IsTorn) Figures.PromotedAmidCopy++;
        _hasLost = true;
        node.Lead(Fault);
        _primary = i;
        if (old is not null) _held.Demote(old);
        foreach (Writer writer in _writers)
        {
            foreach ((Lineage lineage, ulong batch) in writer.Acknowledged)
                if (!node.Lineage.Has(lineage, batch)) throw new InvalidOperationException($"batch {batch} was acknowledged by a replica and the promoted one does not have it");
        }
    }

    // One that has all that was acknowledged; one that has no less than the others is believed to, as long as rules are kept.
    private bool MayLead(Node node, ulong received) => Fault switch
    {
        SimulationFault.PromoteAny => true,
        SimulationFault.AckEarly => Nodes.All(other => other is not null && (other.Follower is null || other.Follower.Ack().Received <= received)),
        _ => !IsBehindAcknowledged(node.Lineage, received),
    };

    // Whatever was lost with a server and every copy is not promised any more.
    private void Forget(Lineage lineage)
    {
        foreach (Writer writer in _writers) writer.Acknowledged.RemoveAll(write => !lineage.Has(write.Lineage, write.Batch));
    }

    // No more accidents: everybody comes back and ends with the same data.
    private void Settle()
    {
        if (Primary is { Current.Poison: not null }) Crash(_primary); // nothing but a restart helps
        if (Primary is null) Revive();
        for (int i = 0; i < Servers; i++) Restart(i);
        for (int steps = 0; !IsSettled(); steps++)
        {
            if (steps > SettleMax) throw new InvalidOperationException("the replicas do not come up to date");
            Now++;
            int i = Random.Next(Servers);
            Nodes[i]!.TurnLog();
            StepLink(i);
            Apply(i);
        }
        ulong end = Primary!.Backlog.End.Batch;
        foreach (Node? node in Nodes)
        {
            for (int key = 0; key < SimulatedKeys.Count; key++)
            {
                long wanted = Primary.Lineage.ValueAt(key, end), found = node!.Read(key);
                if (found != wanted) throw new InvalidOperationException($"at the end server {node.Number} has {SimulatedKeys.Name(key)}={found} and not {wanted}");
            }
            if (!StoreDigest.Of(node!.Store, 1).Sums.SequenceEqual(StoreDigest.Of(Primary.Store, 1).Sums)) throw new InvalidOperationException("the digests differ");
        }
    }

    private void Revive()
    {
        for (int i = 0; i < Servers && Primary is null; i++) Promote(i);
        if (Primary is not null) return;
        foreach (Writer writer in _writers) writer.Acknowledged.Clear(); // nobody is left who has it
        Restart(_primary);
    }

    private bool IsSettled()
    {
        Primary!.Current!.Turn(0);
        ulong end = Primary.Current.Batch - 1;
        return Primary.Backlog.End.Batch >= end && Nodes.All(node => node is { Leads: true } || (node is { Follower.IsFed: true } && node.Applied.Number == end && _links[node.Number] is { IsStreaming: true }));
    }
}
