using Garnet.Aof.Shipping;
using Garnet.Common.Resp;
using Garnet.Replication;
using Garnet.Wire.Consistency;
using Tsavorite;

namespace Garnet.Server.Test.Replication.Simulation;

/// <summary>A client of a replica, one look at a turn: what stands between the looks is other people's turns.</summary>
internal sealed class Reader(World world, int place)
{
    private int[] _keys = [];
    private long[] _values = [];
    private int _next;
    private Node? _node;
    private ReadPoint _point;
    private long _begin;
    private uint _stamp;
    private bool _wasInBatch, _goesByStamp;

    /// <summary>Takes the next step of a read; <paramref name="inBatch"/>: a batch is half applied.</summary>
    public void Step(bool inBatch)
    {
        if (world.Nodes[place] is not { Follower: { IsFed: true } } node || !ReferenceEquals(node, _node ?? node))
        {
            _node = null;
            return;
        }
        if (_node is null) Begin(node, inBatch);
        else if (_next < _keys.Length) ReadNext(node);
        else End(node, inBatch);
    }

    private void Begin(Node node, bool inBatch)
    {
        _node = node;
        _next = 0;
        _keys = [.. Enumerable.Range(0, SimulatedKeys.Count).Where(_ => world.Random.Next(3) == 0)];
        if (_keys.Length == 0) _keys = [world.Random.Next(SimulatedKeys.Count)];
        _values = new long[_keys.Length];
        _stamp = node.Applied.Stamp;
        _point = node.Applied.Point;
        _goesByStamp = AppliedState.IsStill(_stamp) && world.Random.Next(2) == 0;
        _begin = world.Now;
        _wasInBatch = inBatch;
        if (world.Random.Next(8) == 0) ReadHeld(node, inBatch);
        else if (!_goesByStamp && !Sees(node) && world.Fault != SimulationFault.LatePoint) _node = null;
    }

    private void ReadNext(Node node)
    {
        if (world.Fault == SimulationFault.KeyByKey)
        {
            _point = node.Applied.Point;
            if (!node.Applied.Sees(SimulatedKeys.Of(node.Store, _keys[_next]).Hash, _point)) return;
        }
        _values[_next] = node.Read(_keys[_next]);
        _next++;
    }

    private void End(Node node, bool inBatch)
    {
        _node = null;
        if (world.Fault == SimulationFault.LatePoint) _point = node.Applied.Point;
        if (world.Fault == SimulationFault.IgnoreStore) _point = _point with { Store = node.Applied.Point.Store };
        AppliedState.AfterReading();
        if (world.Fault is SimulationFault.SkipSecondLook or SimulationFault.KeyByKey || (_goesByStamp ? node.Applied.Stamp == _stamp : Sees(node))) Seen(node, inBatch);
        else world.Figures.Refused++;
    }

    // Everything at once, as long as no batch is being applied.
    private void ReadHeld(Node node, bool inBatch)
    {
        _node = null;
        if (!node.Applied.TryHold()) return;
        if (inBatch) world.Fail("the state was held inside a batch");
        for (int i = 0; i < _keys.Length; i++) _values[i] = node.Read(_keys[i]);
        node.Applied.Release();
        Seen(node, inBatch);
    }

    private bool Sees(Node node) => Array.TrueForAll(_keys, key => node.Applied.Sees(SimulatedKeys.Of(node.Store, key).Hash, _point));

    private void Seen(Node node, bool inBatch)
    {
        world.Figures.Reads++;
        if (inBatch || _wasInBatch) world.Figures.ReadsInBatches++;
        world.Observe(node, _point, _keys, _values);
        world.History.Add(new Read(node.RunId, _begin, world.Now, 0,
            [.. _keys.Select((key, i) => (SimulatedKeys.Name(key), _values[i] == 0 ? null : $"{_values[i]}"))]));
    }
}
