using Garnet.Aof;
using Garnet.Common.Resp;
using Garnet.Server.Clients;

namespace Garnet.Server.Test.Replication.Simulation;

/// <summary>
/// Clients whose replies wait for the primary's log: one that leaves says that its change is kept as the policy of that log promises. Whoever
/// looks after them sleeps at times, and finds another log in force. Now and then the disk fails at the last sync of a server that gives up the lead. Its choices are drawn apart from the world's.
/// </summary>
internal sealed class HeldClient(World world, Random random)
{
    private const int HoldEvery = 12, FailEvery = 4, LookEvery = 150, HeldMax = 8;

    private readonly List<(Node Node, LogMark Mark, AppendOnlyLog Log)> _held = [];

    public void Step()
    {
        if (_held.Count < HeldMax && random.Next(HoldEvery) == 0) Hold();
        for (int i = _held.Count - 1; i >= 0; i--)
        {
            if (random.Next(LookEvery) == 0 && IsOver(_held[i])) _held.RemoveAt(i);
        }
    }

    /// <summary>The server follows from now on; perhaps its disk fails at the last sync of the log it led.</summary>
    public void Demote(Node node)
    {
        bool fails = random.Next(FailEvery) == 0;
        if (fails && node is { Leads: true, DataDisk: { } disk }) disk.FailSync = disk.Syncs + 1;
        node.BecomeFollower();
        if (node.DataDisk is { } left) left.FailSync = 0;
    }

    private void Hold()
    {
        if (world.Primary is { LastWrite: > 0, Current: { } log } node) _held.Add((node, new LogMark(node.Term, node.LastWrite), log));
    }

    private bool IsOver((Node Node, LogMark Mark, AppendOnlyLog Log) held)
    {
        (Node node, LogMark mark, AppendOnlyLog log) = held;
        if (!ReferenceEquals(world.Nodes[node.Number], node)) return true; // nobody answers any more
        LogMark asked = world.Fault == SimulationFault.AnyLog ? mark with { Term = node.Logs.Term } : mark;
        if (node.Logs.Keeps(asked))
        {
            world.Figures.Released++;
            if (node.KeptBy(log) < mark.Batch) world.Fail($"the reply to a change in batch {mark.Batch} of term {mark.Term} left, and its log came to batch {node.KeptBy(log)} only");
            return true;
        }
        if (!node.Logs.HasLost(asked)) return false;
        world.Figures.Lost++;
        return true;
    }
}
