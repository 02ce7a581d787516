using Garnet.Load.Machine;
using Garnet.Load.Traffic;

namespace Garnet.Load.Compare;

/// <summary>
/// All servers stay up. Cell after cell, the systems take turns; then the next round. So a disturbance of the machine hits all of
/// them alike, and each round gives one ratio per pair.
/// </summary>
internal sealed class Rounds
{
    private const double CellWarmupSeconds = 0.1;
    private const int SettleMs = 50;

    private readonly CompareOptions _options;
    private readonly Cell[] _cells;
    private readonly List<RunningPeer> _running = [];
    private readonly Dictionary<(Cell Cell, string Peer), List<Measured>> _measured = [];
    private readonly Report _report;
    private readonly List<double> _syncsUs = [];

    private Rounds(CompareOptions options, Cell[] cells, Report report)
    {
        _options = options;
        _cells = [.. cells.Where(c => c.Name.Contains(options.Only, StringComparison.OrdinalIgnoreCase))];
        _report = report;
    }

    /// <summary>Runs the cells and prints their costs and tails; what was measured, by cell and system, round by round.</summary>
    public static IReadOnlyDictionary<(Cell Cell, string Peer), List<Measured>> Run(CompareOptions options, List<Peer> peers, Cell[] cells, Report report)
    {
        Rounds rounds = new(options, cells, report);
        try
        {
            peers.ForEach(static peer => peer.Clear());
            foreach (Peer peer in peers) rounds._running.Add(RunningPeer.Start(peer, options.ServerCore));
            if (options.GeneratorCore >= 0) Cores.PinThread(options.GeneratorCore);
            rounds.FillAll();
            foreach (RunningPeer peer in rounds._running) rounds.Warm(peer);
            for (int round = 0; round < options.Rounds; round++) rounds.RunRound(round);
            rounds.PrintCosts();
            rounds.PrintTails();
            return rounds._measured;
        }
        finally
        {
            foreach (RunningPeer peer in rounds._running) peer.Dispose();
        }
    }

    private void FillAll()
    {
        long keys = _cells.Max(c => c.Keys);
        foreach (RunningPeer peer in _running)
        {
            long empty = ServerClock.ReadRss(peer.Pid);
            RunVerb.Fill(peer.Server, keys, Cell.ValueBytes, check: true);
            Check(peer, keys);
            if (_options.Set == "commands") CommandCells.Fill(peer.Server);
            if (_options.Set != "big") continue;
            Thread.Sleep(10 * SettleMs);
            double bytesPerKey = (ServerClock.ReadRss(peer.Pid) - empty) / (double)keys;
            _report.Line($"- {peer.Peer.Name}: {Statistics.Text(bytesPerKey, "F1")} bytes per key at {keys:N0} keys of 16 + {Cell.ValueBytes} bytes (empty {empty >> 20} MiB)");
        }
        if (_options.Set == "big") _report.Line("");
    }

    private static void Check(RunningPeer peer, long keys)
    {
        Workload workload = new("get", 16, Cell.ValueBytes, new KeyStream(keys, KeyOrder.Uniform), check: true);
        using Generator generator = new(workload, new GeneratorSettings { Server = peer.Server, Connections = 4, Seconds = 0.1 });
        Measured checkedRun = generator.Run();
        if (checkedRun.Wrong + checkedRun.Errors > 0) throw new InvalidDataException($"{peer.Peer.Name} gave {checkedRun.Wrong} wrong batches");
    }

    private void Warm(RunningPeer peer)
    {
        double seconds = peer.Peer.IsJitted ? _options.Warmup : _options.Warmup / 10;
        foreach (Cell cell in _cells) Measure(peer, cell, seconds / _cells.Length);
    }

    private void RunRound(int round)
    {
        Console.Error.WriteLine($"round {round + 1} of {_options.Rounds}");
        foreach (Cell cell in _cells)
        {
            for (int turn = 0; turn < _running.Count; turn++)
            {
                RunningPeer peer = _running[(turn + round) % _running.Count];
                Of(cell, peer.Peer.Name).Add(Measure(peer, cell, _options.CellSeconds));
                Thread.Sleep(SettleMs);
            }
        }
        if (IsDurable) _syncsUs.AddRange(SyncProbe.Run(_running.First(static peer => peer.Peer.HasLog).Peer.Directory));
    }

    private bool IsDurable => _options.Set is "durable" or "always" or "pm";

    // What is divided by what: a system with a log by the same without, else the first by the others.
    private List<(string Of, string By)> Pairs(string[] names) => IsDurable
        ? [.. from name in names where name.Contains('+', StringComparison.Ordinal) let plain = name.Split('+')[0] where names.Contains(plain) select (name, plain)]
        : [.. names[1..].Select(other => (names[0], other))];

    private static Measured Measure(RunningPeer peer, Cell cell, double seconds)
    {
        Workload workload = new(cell.Operation, cell.Pipeline, Cell.ValueBytes, new KeyStream(cell.Keys, KeyOrder.Uniform), check: false);
        GeneratorSettings settings = new()
        {
            Server = peer.Server,
            Connections = cell.Connections,
            WarmupSeconds = CellWarmupSeconds,
            Seconds = seconds,
            ServerPid = peer.Pid,
        };
        using Generator generator = new(workload, settings);
        Measured measured = generator.Run();
        if (measured.Errors > 0) throw new InvalidDataException($"{peer.Peer.Name}, {cell.Name}: {measured.FirstError}");
        return measured;
    }

    private List<Measured> Of(Cell cell, string peer)
    {
        if (!_measured.TryGetValue((cell, peer), out List<Measured>? list)) _measured[(cell, peer)] = list = [];
        return list;
    }

    private void PrintCosts()
    {
        string[] names = [.. _running.Select(r => r.Peer.Name)];
        List<(string Of, string By)> pairs = Pairs(names);
        _report.Line("Server CPU ns/op (thousand ops/s), medians; ratios of ns/op: median of paired rounds [min-max]; gen = largest median share of a core the generator used.");
        _report.Line("");
        _report.Head(["cell", .. names, .. pairs.Select(pair => $"{pair.Of} : {pair.By}"), "gen", "foreign"]);
        foreach (Cell cell in _cells)
        {
            List<string> row = [cell.Name];
            row.AddRange(names.Select(n => Cost(Of(cell, n))));
            row.AddRange(pairs.Select(pair => Statistics.Spread([.. Of(cell, pair.Of).Zip(Of(cell, pair.By), (a, b) => a.ServerNs / b.ServerNs)], "F2")));
            row.Add(Statistics.Text(names.Max(n => Statistics.Median(Of(cell, n).Select(m => m.GeneratorShare))), "F2"));
            row.Add(Statistics.Text(names.Max(n => Of(cell, n).Max(m => m.ForeignCores)), "F2"));
            _report.Row(row);
        }
        _report.Line("");
    }

    private static string Cost(List<Measured> runs)
    {
        string nils = runs.Sum(m => m.Nils) > 0 ? " (nils!)" : "";
        double kops = Statistics.Median(runs.Select(m => m.OpsPerSecond)) / 1e3;
        return $"{Statistics.Text(Statistics.Median(runs.Select(m => m.ServerNs)), "F0")} ({Statistics.Text(kops, "F0")}){nils}";
    }

    private void PrintTails()
    {
        Cell[] tails = [.. _cells.Where(cell => cell.IsTail || IsDurable)];
        if (tails.Length == 0) return;
        _report.Line("Latency per batch in us and fairness (slowest connection / mean), medians [min-max]:");
        _report.Line("");
        _report.Head("cell", "system", "p50", "p99", "p99.9", "max", "fairness");
        foreach (Cell cell in tails)
        {
            foreach (string name in _running.Select(r => r.Peer.Name))
            {
                List<Measured> runs = Of(cell, name);
                string Us(Func<Measured, long> pick) => Statistics.Spread([.. runs.Select(m => pick(m) / 1e3)], "F0");
                _report.Row([cell.Name, name, Us(m => m.P50), Us(m => m.P99), Us(m => m.P999), Us(m => m.Max), Statistics.Spread([.. runs.Select(m => m.Fairness)], "F3")]);
            }
        }
        _report.Line("");
        if (_syncsUs.Count == 0) return;
        _report.Line($"The disk alone, a write of {SyncProbe.Bytes} bytes in place and a data sync, us: {Statistics.Spread(_syncsUs, "F0")}, {_syncsUs.Count} times between the rounds.");
        _report.Line("");
    }
}
