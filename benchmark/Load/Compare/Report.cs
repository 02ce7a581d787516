using System.Globalization;
using System.Text;
using Garnet.Load.Machine;

namespace Garnet.Load.Compare;

/// <summary>Markdown that is printed as it grows and appended to a file at the end.</summary>
internal sealed class Report
{
    private readonly StringBuilder _text = new();

    public void Line(string line)
    {
        Console.WriteLine(line);
        _text.AppendLine(line);
    }

    public void Opening(CompareOptions options, List<Peer> peers)
    {
        string commit = Shell.Read("git", "rev-parse --short HEAD");
        if (Shell.Read("git", "status --porcelain --untracked-files=no -- . :!benchmark/RESULTS.md").Length > 0) commit += " with local changes";
        Line($"## {options.Set}, {DateTime.UtcNow.ToString("yyyy-MM-dd HH:mm", CultureInfo.InvariantCulture)} UTC");
        Line("");
        if (options.Note.Length > 0) Line(options.Note + "\n");
        Line($"- machine: {Cores.Model}, {Cores.Count} cores, {Cores.MemoryGiB:F0} GiB, Linux {Cores.Kernel}; servers on core {options.ServerCore}{(options.Set == "replica" ? $", replicas on core {options.ReplicaCore}" : "")}, generator on core {options.GeneratorCore}{(Math.Min(options.ServerCore, options.GeneratorCore) < 0 ? " (-1: any)" : "")}");
        Line($"- commit {commit}; `benchmark/run.sh {string.Join(' ', Environment.GetCommandLineArgs().Skip(1))}`");
        foreach (Peer peer in peers) Line($"- {peer.Name}: {peer.Version(commit)}, flags `{peer.FlagsShown}`");
        Line("");
    }

    public void Row(IEnumerable<string> cells) => Line("| " + string.Join(" | ", cells) + " |");

    public void Head(params string[] cells)
    {
        Row(cells);
        Line("|" + string.Concat(Enumerable.Repeat("---|", cells.Length)));
    }

    public void AppendTo(string path)
    {
        if (!File.Exists(path)) File.WriteAllText(path, "# Results\n\nNewest last. Server CPU ns/op is the main figure; ratios are medians of paired rounds.\n");
        File.AppendAllText(path, "\n" + _text.ToString().TrimEnd() + "\n");
    }
}
