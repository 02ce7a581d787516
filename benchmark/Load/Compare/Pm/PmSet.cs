using Garnet.Load.Compare.Tiers;

namespace Garnet.Load.Compare.Pm;

/// <summary>
/// The set <c>pm</c>: what a change costs that is durable in persistent memory first, and what a read of a value costs that lies there. <c>--only</c> chooses among the
/// cells by their names, and <c>values</c> the reads. Without such memory a file in tmpfs stands for it: the same stores and fences, and as lasting as memory.
/// </summary>
internal static class PmSet
{
    private const string Values = "values";

    public static void Run(CompareOptions options, List<Peer> peers, Report report)
    {
        Cell[] cells = [.. Cell.Fenced().Where(cell => cell.Name.Contains(options.Only, StringComparison.OrdinalIgnoreCase))];
        if (cells.Length > 0 && peers.Count > 0)
            RingGoals.Print(Rounds.Run(options, peers, cells, report), cells, report);
        if (!Values.Contains(options.Only, StringComparison.OrdinalIgnoreCase)) return;
        Console.Error.WriteLine($"part {Values}");
        PlacedReads.Run(options, report);
    }
}
