namespace Tsavorite;

/// <summary>
/// Namespace ids and the database numbers that stand for them. A flush gives the number a fresh id; the old one is
/// retired (nothing new may enter it), emptied in the background, and used again only after a rest, so that a
/// command which looked the id up before the flush cannot write into its successor.
/// </summary>
public sealed unsafe class NamespaceTable
{
    /// <summary>Most databases a server may have.</summary>
    public const int DatabasesMax = 65_536;
    private const uint IdsMax = 1 << 24;
    private const long RestMs = 10_000;

    private readonly Lock _gate = new();
    private readonly Queue<(uint Id, long AtMs)> _resting = new();
    private readonly List<uint> _retired = [];
    private StoreCore? _core;
    private MoverScheduler? _movers;
    private uint _fresh;
    // Ids plus one; 0 = not used yet.
    private uint[] _ids = new uint[16];

    /// <summary>The id the number stands for now (one volatile read); creates it on first use.</summary>
    public uint Id(int database)
    {
        uint[] ids = Volatile.Read(ref _ids);
        if ((uint)database < (uint)ids.Length)
        {
            uint id = Volatile.Read(ref ids[database]);
            if (id != 0) return id - 1;
        }
        return IdSlow(database);
    }

    /// <summary>Swaps what two numbers stand for, atomically.</summary>
    public void Swap(int first, int second)
    {
        lock (_gate)
        {
            uint[] ids = RoomFor(Math.Max(first, second));
            uint one = IdLocked(first), other = IdLocked(second);
            uint[] swapped = (uint[])ids.Clone();
            swapped[first] = other + 1;
            swapped[second] = one + 1;
            Volatile.Write(ref _ids, swapped);
        }
    }

    /// <summary>
    /// Gives the number a fresh, empty id; the old one's records are reclaimed in the background, or before the
    /// call returns with <paramref name="wait"/>. Returns the number of keys given up.
    /// </summary>
    public long Flush(int database, bool wait)
    {
        long keys = 0;
        lock (_gate)
        {
            uint[] ids = RoomFor(database);
            uint old = IdLocked(database);
            Volatile.Write(ref ids[database], TakeId() + 1);
            for (int i = 0; i < _core!.Shape->PartitionCount; i++) keys += Retire(_core.Shape->Partitions + i, old);
            _retired.Add(old);
        }
        if (wait) _movers!.Reclaim();
        else _movers!.Wake();
        return keys;
    }

    internal void Open(StoreCore core, MoverScheduler movers)
    {
        _core = core;
        _movers = movers;
    }

    /// <summary>The numbers used so far.</summary>
    internal int[] Databases()
    {
        lock (_gate) return [.. Enumerable.Range(0, _ids.Length).Where(database => _ids[database] != 0)];
    }

    /// <summary>The ids that await emptying, empty if none.</summary>
    internal uint[] Retired()
    {
        lock (_gate) return _retired.Count == 0 ? [] : _retired.ToArray();
    }

    /// <summary>The id has no record left.</summary>
    internal void Rest(uint id, long nowMs)
    {
        lock (_gate)
        {
            if (_retired.Remove(id)) _resting.Enqueue((id, nowMs));
        }
    }

    private long Retire(Partition* partition, uint id)
    {
        Partition.Enter(partition);
        NamespaceCount* count = _core!.CountOf(partition, id);
        count->Retired = 1;
        long keys = count->Keys;
        Partition.Exit(partition);
        return keys;
    }

    private uint IdSlow(int database)
    {
        lock (_gate)
        {
            RoomFor(database);
            return IdLocked(database);
        }
    }

    private uint IdLocked(int database)
    {
        if (_ids[database] == 0) Volatile.Write(ref _ids[database], TakeId() + 1);
        return _ids[database] - 1;
    }

    private uint[] RoomFor(int database)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual((uint)database, (uint)DatabasesMax);
        if (database < _ids.Length) return _ids;
        uint[] ids = new uint[System.Numerics.BitOperations.RoundUpToPowerOf2((uint)database + 1)];
        _ids.CopyTo(ids, 0);
        Volatile.Write(ref _ids, ids);
        return ids;
    }

    private uint TakeId()
    {
        if (_resting.TryPeek(out (uint Id, long AtMs) oldest) && _movers!.NowMs - oldest.AtMs >= RestMs)
        {
            _resting.Dequeue();
            for (int i = 0; i < _core!.Shape->PartitionCount; i++) Revive(_core.Shape->Partitions + i, oldest.Id);
            return oldest.Id;
        }
        Garnet.Common.Faults.Check.That(_fresh < IdsMax, "U18 a namespace id fits 24 bits");
        return _fresh++;
    }

    private void Revive(Partition* partition, uint id)
    {
        Partition.Enter(partition);
        _core!.CountOf(partition, id)->Retired = 0;
        Partition.Exit(partition);
    }
}
