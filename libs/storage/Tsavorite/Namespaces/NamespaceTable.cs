using Garnet.Common.Time;

namespace Tsavorite;

/// <summary>
/// Namespace ids and the database numbers that stand for them. A flush gives the number a fresh id, unless nothing is in it; the old one is
/// retired (nothing new may enter it), emptied in the background, and used again only after a rest, so that a
/// command which looked the id up before the flush cannot write into its successor. Where very many rest, as of flushes without end, one is used
/// sooner, and for the number that it stood for only: a command that is so late writes as if it had come behind the flush.
/// Where several threads look ids up, a number comes to stand for another id only in a turn alone (<see cref="Turns"/>, store.U21): all ids
/// that a command has looked up belong to one moment, and that is the moment of its locks.
/// </summary>
public sealed unsafe class NamespaceTable
{
    /// <summary>Most databases a server may have.</summary>
    public const int DatabasesMax = 65_536;
    /// <summary>A database for what the server keeps for itself: it is not emptied with the others, and nothing in it is evicted.</summary>
    public const int Reserved = DatabasesMax - 1;
    private const int NoDatabase = -1;
    private const uint IdsMax = 1 << 24;
    /// <summary>Every id has counts in every partition: a file does not make the store take memory for more than there are databases, twice.</summary>
    private const uint AdoptedIdsMax = 2 * DatabasesMax;
    private const long RestMs = 10_000;
    /// <summary>So many ids rest in full; with those of all databases there are mostly fewer than 1,024 then, whose counts take 16 KiB of each partition.</summary>
    private const int RestingMax = 1000;
    /// <summary>Each record that is looked at is compared with so many; in a step that holds the locks nothing is emptied, and as many more are waited for than rest.</summary>
    private const int BehindMax = 64, RetiredMax = BehindMax + RestingMax;
    private const int CountedMax = 16; // as many databases as there are unless more are asked for

    private readonly Lock _gate = new();
    private readonly List<(uint Id, long AtMs, int Database)> _resting = []; // those that began first stand first
    private readonly List<(uint Id, int Database)> _retired = [];
    private StoreCore? _core;
    private MoverScheduler? _movers;
    private uint _fresh;
    // Ids plus one; 0 = not used yet.
    private uint[] _ids = new uint[16];
    // Inside a step that holds every lock the numbers change here: who asks meanwhile finds nothing in the other and waits at the gate.
    private uint[]? _hidden;
    private long _changes;

    /// <summary>The id the number stands for now (one volatile read); creates it on first use.</summary>
    public uint Id(int database)
    {
        uint[] ids = Volatile.Read(ref _ids);
        if ((uint)database < (uint)ids.Length)
        {
            uint id = Volatile.Read(ref ids[database]);
            if (id != 0)
                return id - 1;
        }
        return IdSlow(database);
    }

    /// <summary>The same where nothing may wait: false if the number was not used yet, or if a step is under way that changes what numbers stand for.</summary>
    public bool TryId(int database, out uint id)
    {
        uint[] ids = Volatile.Read(ref _ids);
        id = (uint)database < (uint)ids.Length ? Volatile.Read(ref ids[database]) : 0;
        return id-- != 0;
    }

    /// <summary>Keys of the first databases in the partition, or those with an expiry; a peek, without the lock.</summary>
    internal long KeysIn(Partition* partition, bool expiring)
    {
        long keys = 0;
        uint known = Volatile.Read(ref partition->CountsMax); // before the array, which only grows
        uint[] ids = Volatile.Read(ref _ids);
        for (int database = 0; database < Math.Min(ids.Length, CountedMax); database++)
        {
            uint ns = Volatile.Read(ref ids[database]) - 1; // 0, which is none, becomes more than there are
            if (ns < known)
                keys += expiring ? partition->Counts[ns].Expiring : partition->Counts[ns].Keys;
        }
        return keys;
    }

    /// <summary>Grows whenever a number comes to stand for another id; cannot while a partition's lock is held.</summary>
    public long Changes => Volatile.Read(ref _changes);

    /// <summary>store.U21: says whether the calling thread has the turn alone, or is none of those who take turns. Null if nobody does.</summary>
    public Func<bool>? MayChange { get; set; }

    /// <summary>Swaps what two numbers stand for, atomically.</summary>
    public void Swap(int first, int second)
    {
        CheckTurn();
        lock (_gate)
        {
            uint[] ids = RoomFor(Math.Max(first, second));
            uint one = IdLocked(first), other = IdLocked(second);
            uint[] swapped = (uint[])ids.Clone();
            swapped[first] = other + 1;
            swapped[second] = one + 1;
            HideIfMine();
            _core!.Exclusive(ControlOperation.SwapDatabases, ControlOperation.Arguments(first, second), () =>
            {
                _core.Observer?.OnSwap(first, second);
                Publish(swapped);
                Volatile.Write(ref _changes, _changes + 1);
                _core.Databases[other] = first;
                _core.Databases[one] = second;
            });
        }
    }

    /// <summary>
    /// Gives the number a fresh, empty id if anything is in it; the old one's records are reclaimed in the background, or before the
    /// call returns with <paramref name="wait"/>. Returns the number of keys given up.
    /// </summary>
    public long Flush(int database, bool wait)
    {
        CheckTurn();
        long keys = 0;
        lock (_gate)
        {
            RoomFor(database);
            IdLocked(database);
            HideIfMine();
            _core!.Exclusive(ControlOperation.FlushDatabase, ControlOperation.Arguments(database), () => keys = Empty(database));
        }
        Reclaim(wait);
        return keys;
    }

    /// <summary>The same for every database, in one step.</summary>
    public long FlushAll(bool wait)
    {
        CheckTurn();
        long keys = 0;
        lock (_gate)
        {
            HideIfMine();
            _core!.Exclusive(ControlOperation.FlushAll, [], () =>
            {
                for (int database = 0; database < Ids.Length; database++)
                    keys += Ids[database] != 0 && database != Reserved ? Empty(database) : 0;
            });
        }
        Reclaim(wait);
        return keys;
    }

    /// <summary>
    /// So many flushes are behind that whoever makes more does well to wait for <see cref="Reclaim()"/>. Where there is a tier that takes as long as its disk does, and all are held
    /// up by a few ids that lie there among others: many more may be behind.
    /// </summary>
    public bool IsBehind
    {
        get
        {
            lock (_gate) return _retired.Count > (_core!.Tier is null ? BehindMax : RestingMax);
        }
    }

    /// <summary>The step that holds the locks, in which nothing is emptied, may make no more.</summary>
    public bool IsFull
    {
        get
        {
            lock (_gate) return _core!.IsMine && _retired.Count >= RetiredMax;
        }
    }

    /// <summary>Returns once the records that were given up are gone; inside a step that holds the locks they are left to the background.</summary>
    public void Reclaim() => Reclaim(wait: true);

    /// <summary>Everything goes, also what the server keeps for itself.</summary>
    public void Clear(bool wait)
    {
        Flush(Reserved, wait);
        FlushAll(wait);
    }

    /// <summary>Databases to be filled beside those that are shown.</summary>
    public StagedNamespaces Stage() => new(this);

    /// <summary>
    /// What was staged is shown from now on, and nothing else, in one step that no log is told of; what was shown before is reclaimed in the background.
    /// </summary>
    public void Show(StagedNamespaces staged)
    {
        ArgumentNullException.ThrowIfNull(staged);
        lock (_gate)
        {
            var next = new List<(int Database, uint Id)>();
            foreach (int database in staged.Ids.Keys)
            {
                RoomFor(database);
                IdLocked(database);
            }
            for (int database = 0; database < Ids.Length; database++)
            {
                if (Ids[database] != 0)
                    next.Add((database, staged.Ids.TryGetValue(database, out uint id) ? id : TakeId(database)));
            }
            _core!.Exclusive(0, [], () =>
            {
                foreach ((int database, uint id) in next) Replace(database, id);
            });
            staged.Ids.Clear();
        }
        Reclaim(wait: false);
    }

    /// <summary>What was staged is given up.</summary>
    public void Drop(StagedNamespaces staged, bool wait)
    {
        ArgumentNullException.ThrowIfNull(staged);
        lock (_gate)
        {
            uint[] ids = [.. staged.Ids.Values];
            _core!.Exclusive(0, [], () =>
            {
                foreach (uint id in ids) Retire(id);
            });
            staged.Ids.Clear();
        }
        Reclaim(wait);
    }

    /// <summary>
    /// Gives numbers the ids that what is to be loaded was kept under; false, and nothing has changed, if the store is not empty or two numbers have one id. What
    /// numbers stood for before is as if it had never been. Nobody works with the store meanwhile.
    /// </summary>
    internal bool TryAdopt(IReadOnlyDictionary<int, uint> adopted)
    {
        lock (_gate)
        {
            HashSet<uint> taken = [.. adopted.Values];
            if (taken.Count != adopted.Count || taken.Count == 0 || taken.Max() >= AdoptedIdsMax || !IsEmpty())
                return false;
            foreach (int database in adopted.Keys) RoomFor(database);
            _core!.Exclusive(0, [], () => Adopt(adopted, taken));
            return true;
        }
    }

    internal uint IdOf(StagedNamespaces staged, int database)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual((uint)database, (uint)DatabasesMax);
        lock (_gate)
        {
            if (!staged.Ids.TryGetValue(database, out uint id))
                staged.Ids[database] = id = TakeId(NoDatabase);
            return id;
        }
    }

    internal void Open(StoreCore core, MoverScheduler movers)
    {
        _core = core;
        _movers = movers;
    }

    /// <summary>The numbers used so far.</summary>
    internal int[] Databases()
    {
        lock (_gate) return [.. Enumerable.Range(0, Ids.Length).Where(database => Ids[database] != 0)];
    }

    /// <summary>The ids that await emptying, empty if none.</summary>
    internal uint[] Retired()
    {
        lock (_gate)
        {
            if (_retired.Count == 0)
                return [];
            uint[] ids = new uint[_retired.Count]; // no query: a start does without System.Linq
            for (int i = 0; i < ids.Length; i++) ids[i] = _retired[i].Id;
            return ids;
        }
    }

    /// <summary>The id has no record left.</summary>
    internal void Rest(uint id, long nowMs)
    {
        lock (_gate)
        {
            int at = _retired.FindIndex(one => one.Id == id);
            if (at < 0)
                return;
            _resting.Add((id, nowMs, _retired[at].Database));
            _retired.RemoveAt(at);
        }
    }

    /// <summary>Keeps others from changing the table until <see cref="Exit"/>; before any partition is locked.</summary>
    internal void Enter() => _gate.Enter();

    /// <summary>Shows everybody what a step that holds every lock has made of the numbers.</summary>
    internal void Show()
    {
        if (_hidden is not { } ids)
            return;
        _hidden = null;
        Publish(ids);
    }

    /// <summary>Ends what <see cref="Enter"/> began.</summary>
    internal void Exit() => _gate.Exit();

    private bool IsEmpty()
    {
        for (int i = 0; i < _core!.Shape->PartitionCount; i++)
        {
            if (Volatile.Read(ref _core.Shape->Partitions[i].Words) != 0)
                return false;
        }
        return true;
    }

    // Every partition is locked, and empty.
    private void Adopt(IReadOnlyDictionary<int, uint> adopted, HashSet<uint> taken)
    {
        uint next = Math.Max(_fresh, taken.Max() + 1), unused = 0;
        int others = Enumerable.Range(0, Ids.Length).Count(database => Ids[database] != 0 && !adopted.ContainsKey(database));
        uint room = System.Numerics.BitOperations.RoundUpToPowerOf2(Math.Max(next + (uint)others, 16));
        int[] databases = new int[Math.Max((uint)_core!.Databases.Length, room)];
        Array.Fill(databases, NoDatabase);
        for (int database = 0; database < Ids.Length; database++)
        {
            if (Ids[database] == 0 && !adopted.ContainsKey(database))
                continue;
            uint id = adopted.TryGetValue(database, out uint kept) ? kept : next++;
            databases[id] = database;
            Volatile.Write(ref Ids[database], id + 1);
        }
        Volatile.Write(ref _core.Databases, databases);
        Volatile.Write(ref _changes, _changes + 1);
        _retired.Clear();
        _resting.Clear();
        for (; unused < next; unused++)
        {
            Revive(unused);
            if (databases[unused] < 0)
                _resting.Add((unused, _movers!.NowMs, NoDatabase));
        }
        _fresh = next;
    }

    private void CheckTurn() =>
        Garnet.Common.Faults.Check.That(MayChange?.Invoke() != false, "store.U21 what a number stands for changes in a turn alone");

    // Inside a step that holds the locks nobody can wait for them.
    private void Reclaim(bool wait)
    {
        if (wait && !_core!.IsMine)
            _movers!.Reclaim();
        else
            _movers!.Wake();
    }

    // Every partition is locked.
    private long Empty(int database)
    {
        if (!HasRecords(Ids[database] - 1))
        {
            _core!.Observer?.OnFlush(database);
            return 0;
        }
        if (!TryRested(database, out uint next))
            return Replace(database, FreshId());
        Revive(next);
        return Replace(database, next);
    }

    // Every partition is locked.
    private void Revive(uint id)
    {
        for (int i = 0; i < _core!.Shape->PartitionCount; i++) _core.CountOf(_core.Shape->Partitions + i, id)->Retired = 0;
    }

    private bool HasRecords(uint id)
    {
        for (int i = 0; i < _core!.Shape->PartitionCount; i++)
        {
            Partition* partition = _core.Shape->Partitions + i;
            if (id < partition->CountsMax && (partition->Counts[id].Keys | partition->Counts[id].Chunks) != 0)
                return true;
        }
        return false;
    }

    // Every partition is locked.
    private long Replace(int database, uint fresh)
    {
        uint old = Ids[database] - 1;
        _core!.Observer?.OnFlush(database);
        Volatile.Write(ref Ids[database], fresh + 1);
        Volatile.Write(ref _changes, _changes + 1);
        _core.Databases[fresh] = database;
        return Retire(old);
    }

    // Every partition is locked. Returns the keys given up.
    private long Retire(uint old)
    {
        _retired.Add((old, _core!.Databases[old]));
        _core.Databases[old] = NoDatabase;
        long keys = 0;
        for (int i = 0; i < _core.Shape->PartitionCount; i++)
        {
            NamespaceCount* count = _core.CountOf(_core.Shape->Partitions + i, old);
            count->Retired = 1;
            keys += count->Keys;
        }
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
        if (Ids[database] == 0)
        {
            uint id = TakeId(database);
            _core!.Databases[id] = database; // before the id is known to anyone
            Volatile.Write(ref Ids[database], id + 1);
        }
        return Ids[database] - 1;
    }

    private uint[] RoomFor(int database)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual((uint)database, (uint)DatabasesMax);
        if (database < Ids.Length)
            return Ids;
        uint[] ids = new uint[System.Numerics.BitOperations.RoundUpToPowerOf2((uint)database + 1)];
        Ids.CopyTo(ids, 0);
        Publish(ids);
        return ids;
    }

    // The gate is held.
    private uint[] Ids => _hidden ?? _ids;

    private void Publish(uint[] ids)
    {
        if (_hidden != null)
            _hidden = ids;
        else
            Volatile.Write(ref _ids, ids);
    }

    private void HideIfMine()
    {
        if (_hidden != null || !_core!.IsMine)
            return;
        _hidden = (uint[])_ids.Clone();
        Volatile.Write(ref _ids, []);
    }

    // No partition is locked, or the step holds those it comes to.
    private uint TakeId(int database)
    {
        if (!TryRested(database, out uint id))
            return FreshId();
        for (int i = 0; i < _core!.Shape->PartitionCount; i++) Revive(_core.Shape->Partitions + i, id);
        return id;
    }

    private uint FreshId()
    {
        Garnet.Common.Faults.Check.That(_fresh < IdsMax, "store.U18 a namespace id fits 24 bits");
        if (_fresh == _core!.Databases.Length)
        {
            int[] databases = new int[Math.Max(16, _core.Databases.Length * 2)];
            Array.Fill(databases, NoDatabase);
            _core.Databases.CopyTo(databases, 0);
            Volatile.Write(ref _core.Databases, databases);
        }
        return _fresh++;
    }

    // One that has rested; where too many rest, one that stood for the same number. It is retired still.
    private bool TryRested(int database, out uint id)
    {
        int at = _resting.Count > 0 && !Elapsed.IsWithin(_movers!.NowMs, _resting[0].AtMs, RestMs) ? 0
            : _resting.Count >= RestingMax && database != NoDatabase ? _resting.FindIndex(one => one.Database == database)
            : -1;
        id = at < 0 ? 0 : _resting[at].Id;
        if (at >= 0)
            _resting.RemoveAt(at);
        return at >= 0;
    }

    private void Revive(Partition* partition, uint id)
    {
        _core!.EnterUnlessMine(partition);
        _core.CountOf(partition, id)->Retired = 0;
        _core.ExitUnlessMine(partition);
    }
}
