using Garnet.Aof.Disk;
using Garnet.Aof.Pm;
using Garnet.Aof.Test.Disk;
using Garnet.Aof.Test.Pm;
using Tsavorite.Test.Tiers;

namespace Garnet.Aof.Test.Simulation;

/// <summary>
/// Several lives of one data directory: each begins with recovery, whose outcome is checked against the history, runs for some
/// turns, and ends in a power cut at some operation of the disk, the end of the process, or a stop.
/// </summary>
internal sealed class Simulation
{
    private const int LivesMax = 6, StepsMax = 300, CrashWithin = 160, FullEvery = 8, FullForMax = 12, MemoryEvery = 3, DrainEvery = 12, TierEvery = 4;
    private const long TierBytes = 8 << 20;

    private readonly Random _random, _room; // the second for full disks: it changes nothing of what the first one decides
    private readonly DiskFault _fault;
    private readonly SimulationFigures _figures;
    private readonly History _history = new();
    private readonly int _sublogs;
    private SimulatedDisk _disk = new();
    private PmSim? _memory; // of every third machine
    private readonly SimulatedMedium? _tier; // of every fourth machine
    private ulong _promised;

    public Simulation(int seed, DiskFault fault, SimulationFigures figures)
    {
        _random = new Random(seed);
        _room = new Random(seed);
        _sublogs = 1 + _random.Next(3);
        _fault = fault;
        _figures = figures;
        bool isOfTier = fault is DiskFault.UnsyncedTier or DiskFault.ForgottenNames;
        if (isOfTier || (seed % TierEvery == 0 && fault == DiskFault.None)) _tier = TierBeside(() => _disk, fault);
        if (seed % MemoryEvery == 0 && fault is (DiskFault.None or DiskFault.FencedByAnother)) _memory = MemoryOf(new byte[PmLayout.Bytes + (_sublogs * PmRing.BytesMin)]);
    }

    public void Run()
    {
        for (int lives = 2 + _random.Next(LivesMax - 1); lives > 0; lives--) Live();
        // Once more without any accident: what the last end left is checked.
        var disk = new FaultyDisk(_memory is null ? _disk : new PmDisk(_disk, _memory), _fault);
        using var last = new Primary(disk, _sublogs, _history, _random, _fault) { Tier = _tier };
        last.Open(disk, _promised);
        last.Stop();
    }

    private void Live()
    {
        if (_random.Next(10) < 6) _disk.CrashAt = _disk.Operations + 1 + _random.Next(CrashWithin);
        if (_random.Next(10) == 0) _disk.FailSync = _disk.Syncs + 5 + _random.Next(40);
        if (_random.Next(10) == 0) _disk.FailWrite = _disk.Writes + 5 + _random.Next(40);
        using RingDisk? rings = _room.Next(FullEvery) == 0 ? FillUp() : null;
        PmDisk? beside = _memory is null ? null : new PmDisk(_disk, _memory);
        var disk = new FaultyDisk(beside ?? rings ?? (IDisk)_disk, _fault);
        using var primary = new Primary(disk, _sublogs, _history, _random, _fault) { Tier = _tier, As = beside is null ? static (_, turn) => turn() : beside.As };
        Ending ending = RunAndEnd(primary, disk, beside);
        if (ending == Ending.Kill) Settle(rings);
        _disk = After(primary, ending);
        _figures.Lives++;
        _figures.Changes += primary.Changes;
        _figures.Snapshots += primary.Snapshots;
        _figures.OnTheSpot += primary.OnTheSpot;
        if (primary.IsPoisoned) _figures.Poisoned++;
        (_figures.Demoted, _figures.FoundCold) = (_figures.Demoted + primary.Demoted, _figures.FoundCold + primary.FoundCold);
    }

    // What it does is among the operations at which the machine may go down.
    internal static SimulatedMedium TierBeside(Func<SimulatedDisk> disk, DiskFault fault = DiskFault.None, long bytes = TierBytes)
    {
        SimulatedMedium tier = new(bytes) { LosesSync = fault == DiskFault.UnsyncedTier };
        tier.FailsWrite = _ =>
        {
            Count("write to the tier");
            return 0;
        };
        tier.BeforeSync = () => Count("sync the tier");
        return tier;

        void Count(string operation)
        {
            disk().Count(operation, "tier");
            disk().AfterCount();
        }
    }

    // For some writes there is no room.
    private RingDisk FillUp()
    {
        _disk.FullFrom = _disk.Writes + 1 + _room.Next(120);
        _disk.FullFor = 1 + _room.Next(FullForMax);
        return new RingDisk(_disk, _fault);
    }

    // Whatever the disk was to do next, the system has what was written.
    private void Settle(RingDisk? rings)
    {
        _disk.CrashAt = _disk.FailWrite = _disk.FailSync = _disk.FullFrom = 0;
        rings?.Kill();
    }

    private Ending RunAndEnd(Primary primary, FaultyDisk disk, PmDisk? beside)
    {
        try
        {
            RecoveryReport report = primary.Open(disk, _promised);
            _figures.Tell?.Invoke($"recovered: term {report.Start.Term}, batch {report.Start.LastBatch}, snapshot {report.SnapshotBatch}; {primary}");
            if (report.WasCut) _figures.Cuts++;
            for (int steps = _random.Next(StepsMax); steps > 0; steps--) Step(primary, beside);
            if (_disk is { WasFull: true, IsFull: false, FailedOnce: false })
            {
                _disk.FailSync = _disk.FailWrite = 0; // what fails now is not asked here
                primary.CheckTakesWrites();
                _figures.Refilled++;
            }
            if (_random.Next(3) != 0) return _random.Next(2) == 0 ? Ending.Kill : Ending.PowerCut;
            primary.Stop();
            return Ending.Stop;
        }
        catch (SimulatedCrashException)
        {
            if (!primary.IsOpen) _figures.CrashesInRecovery++;
            return Ending.PowerCut;
        }
        catch (Exception) when ((_disk.FailedOnce || _disk.WasFull) && !primary.IsOpen)
        {
            return Ending.Kill; // the start was refused because the disk failed: nothing has changed
        }
    }

    private void Step(Primary primary, PmDisk? beside)
    {
        primary.Step();
        if (beside is not null && _room.Next(DrainEvery) == 0 && beside.Drain(_room)) _figures.Drains++;
    }

    private SimulatedDisk After(Primary primary, Ending ending)
    {
        if (primary.IsOpen) _promised = ending == Ending.PowerCut || primary.IsPoisoned ? primary.Promised : primary.Written;
        _figures.Tell?.Invoke($"{ending}: promised {_promised}, {primary.Changes} changes, {primary.Snapshots} snapshots; " +
            (primary.IsOpen ? primary.ToString() : "while recovering"));
        if (ending == Ending.PowerCut) _figures.Crashes++;
        if (ending == Ending.Kill) _figures.Kills++;
        if (ending == Ending.Stop) _figures.Stops++;
        int seed = ending == Ending.PowerCut ? _random.Next() : 1;
        SimulatedDisk found = ending == Ending.PowerCut ? _disk.Crash(seed) : _disk.Copy();
        if (ending == Ending.PowerCut) _tier?.Crash(seed);
        if (_memory is not null) _memory = MemoryOf(_memory.Image(seed % 5 == 0 ? seed % 2 : seed));
        _disk.IsGone = true;
        return found;
    }

    private PmSim MemoryOf(byte[] content) => new(content)
    {
        FencesFor = thread => _fault == DiskFault.FencedByAnother && thread == PmDisk.Reactor ? PmDisk.Main : thread,
    };

    private enum Ending
    {
        PowerCut, Kill, Stop,
    }
}
