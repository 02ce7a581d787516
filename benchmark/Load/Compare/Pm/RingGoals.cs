using Garnet.Load.Traffic;

namespace Garnet.Load.Compare.Pm;

/// <summary>What the ring of <c>ours+pm</c> has to reach: beside a read, beside a change that nothing keeps, and beside one that waits for the disk.</summary>
internal static class RingGoals
{
    private const string Ring = "ours+pm", Plain = "ours", Disk = "ours+always";
    private const double OfGet = 0.70, OfPlain = 0.85, OfDisk = 4;

    public static void Print(IReadOnlyDictionary<(Cell Cell, string Peer), List<Measured>> measured, Cell[] cells, Report report)
    {
        report.Line("Goals of the ring; medians of paired rounds [min-max]. CPU: ns/op of the second by those of the first. MCAS reaches 0.35 in the first row. "
            + "Depth 1 is one connection that waits for each reply: the way there and back, which both have, hides most of the gain; 16 is a pipeline.");
        report.Line("");
        report.Head("of", "by", "load", "what", "ratio", "goal", "");
        foreach (Cell set in cells.Where(static cell => cell.Operation == "set"))
        {
            Cell get = set with { Operation = "get" };
            Row(set, (set, Ring), (get, Ring), OfGet);
            Row(set, (set, Ring), (set, Plain), OfPlain);
            if (set.Connections == 1)
                Row(set, (set, Ring), (set, Disk), OfDisk, isRate: true);
        }
        report.Line("");

        void Row(Cell load, (Cell Cell, string Peer) of, (Cell Cell, string Peer) by, double goal, bool isRate = false)
        {
            if (!measured.TryGetValue(of, out List<Measured>? mine) || !measured.TryGetValue(by, out List<Measured>? other)) return;
            double[] ratios = [.. mine.Zip(other, (a, b) => isRate ? a.OpsPerSecond / b.OpsPerSecond : b.ServerNs / a.ServerNs)];
            report.Row([Name(of), Name(by), $"p{load.Pipeline} c{load.Connections}", isRate ? "rate" : "CPU", Statistics.Spread(ratios, "F2"),
                $">= {Statistics.Text(goal, "F2")}", Statistics.Median(ratios) >= goal ? "reached" : "missed"]);
        }

        static string Name((Cell Cell, string Peer) side) => $"{side.Cell.Operation.ToUpperInvariant()}, {side.Peer}";
    }
}
