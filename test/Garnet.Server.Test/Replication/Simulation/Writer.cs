using Garnet.Common.Resp;
using Garnet.Wire.Consistency;

namespace Garnet.Server.Test.Replication.Simulation;

/// <summary>A client of the primary that changes keys of its own; some of its writes wait until a replica has applied them.</summary>
internal sealed class Writer(World world, int number)
{
    private Write? _pending;
    private Lineage? _lineage;
    private ulong _batch;
    private uint _term;

    /// <summary>Acknowledged writes: in which lineage, in which batch.</summary>
    public List<(Lineage Lineage, ulong Batch)> Acknowledged { get; } = [];

    public void Step()
    {
        if (world.Primary is not { } primary)
        {
            _pending = null; // nobody knows what became of it
            return;
        }
        if (_pending is null && primary.Current!.Poison is not null) return; // refused
        if (_pending is null) Begin(primary);
        else if (!ReferenceEquals(primary.Lineage, _lineage) || world.Random.Next(40) == 0) _pending = null;
        else if (world.Fault == SimulationFault.AckEarly || world.AppliedSomewhere(_term, _batch)) Acknowledge();
    }

    private void Begin(Node primary)
    {
        int[] keys = [.. Enumerable.Range(0, SimulatedKeys.Each).Where(_ => world.Random.Next(2) == 0).Select(key => (number * SimulatedKeys.Each) + key)];
        if (keys.Length == 0) return;
        long value = ++world.Values;
        Write write = world.History.Begin(world.Now, [.. keys.Select(key => (SimulatedKeys.Name(key), $"{value}"))]);
        world.Figures.Writes++;
        if (world.Fault == SimulationFault.SplitStep)
        {
            foreach (int key in keys)
            {
                _batch = primary.Write([key], value);
                primary.Current!.Turn(0);
            }
        }
        else _batch = primary.Write(keys, value);
        (_pending, _lineage, _term) = (write, primary.Lineage, primary.Term);
    }

    private void Acknowledge()
    {
        _pending!.End = world.Now;
        _pending = null;
        Acknowledged.Add((_lineage!, _batch));
        world.CheckAcknowledged(_lineage!, _batch);
        world.Figures.Acknowledged++;
    }
}
