using Garnet.Common;
using Garnet.Server;
using Garnet.Server.Telemetry;

namespace Garnet.Host;

/// <summary>Prints the generated pages of website/docs/reference; a test holds the pages to what this prints.</summary>
internal static class Reference
{
    public static bool Print(string page, TextWriter output)
    {
        output.Write(page switch
        {
            "commands" => Commands(),
            "settings" => Settings(),
            "metrics" => Metrics(),
            _ => throw Unknown(page),
        });
        return true;
    }

    private static GarnetException Unknown(string page) =>
        new(ExitKind.Configuration, "cannot print a reference page", $"there is no page '{page}'", "Pages: commands, metrics, settings");

    /// <summary>The page of all commands, a part for each group.</summary>
    public static string Commands()
    {
        IReadOnlyList<CommandDeclaration> all = CommandDeclaration.All();
        var text = new StringWriter { NewLine = "\n" };
        text.WriteLine("<!-- Generated: garnet-server --print-reference commands. Do not edit. -->");
        text.WriteLine("# Commands");
        text.WriteLine();
        text.WriteLine($"All {all.Count} commands, by the groups of the Redis documentation. *Since* is the version of Redis or Valkey");
        text.WriteLine("that brought a command, 0.1.0 for our own. *Rights* are the ACL categories it belongs to");
        text.WriteLine("([how](../guide/security.md)). `COMMAND DOCS` tells clients the same. What differs from Redis is on");
        text.WriteLine("[a page of its own](../guide/differences.md).");
        foreach (IGrouping<string, CommandDeclaration> group in all.GroupBy(static one => one.Group))
        {
            text.WriteLine();
            text.WriteLine($"## {group.Key}");
            text.WriteLine();
            text.WriteLine("| Command | | Since | Cost | Rights |");
            text.WriteLine("|---|---|---|---|---|");
            foreach (CommandDeclaration one in group)
            {
                string call = one.Syntax.Length == 0 ? one.Name : $"{one.Name} {one.Syntax.Replace("|", "\\|", StringComparison.Ordinal)}";
                text.WriteLine($"| `{call}` | {one.Summary} | {one.Since} | {one.Complexity} | {string.Join(' ', one.Categories)} |");
            }
        }

        return text.ToString();
    }

    /// <summary>The page of all metrics.</summary>
    public static string Metrics()
    {
        var text = new StringWriter { NewLine = "\n" };
        text.WriteLine("<!-- Generated: garnet-server --print-reference metrics. Do not edit. -->");
        text.WriteLine("# Metrics");
        text.WriteLine();
        text.WriteLine("What `/metrics` answers where `admin-port` is set ([how](../guide/monitoring.md)), in the format of OpenMetrics.");
        text.WriteLine("Names that begin with `redis_` are those of the exporter for Redis and mean the same; `garnet_` are our own.");
        text.WriteLine("Counters begin at zero with the start, and most with `CONFIG RESETSTAT`. Those of `garnet_tier_` are there with a");
        text.WriteLine("tier only; what has labels, for what has happened. The last column is the same figure for clients: a field of");
        text.WriteLine("INFO or, of `garnet_bulk_`, of BULK.INFO.");
        text.WriteLine();
        text.WriteLine("| Metric | Type | Unit | Labels | | Field |");
        text.WriteLine("|---|---|---|---|---|---|");
        foreach (MetricDeclaration metric in ServerTelemetry.Declared.OrderBy(static metric => metric.Name, StringComparer.Ordinal))
        {
            string source = metric.Source.Length == 0 ? "" : $"`{metric.Source}`";
            text.WriteLine($"| `{metric.Name}` | {metric.Type} | {metric.Unit} | {metric.Labels} | {metric.Help} | {source} |");
        }

        return text.ToString();
    }

    /// <summary>The page of all settings, in three parts: in effect, kept, refused.</summary>
    public static string Settings()
    {
        var table = new SettingTable();
        new ServerSettings().Register(table);
        var text = new StringWriter { NewLine = "\n" };
        text.WriteLine("<!-- Generated: garnet-server --print-reference settings. Do not edit. -->");
        text.WriteLine("# Settings");
        text.WriteLine();
        text.WriteLine("Each setting can be given in a configuration file (`maxmemory 1gb`), in the environment (`GARNET_MAXMEMORY=1gb`;");
        text.WriteLine("dashes become underscores; `GARNET_REQUIREPASS_FILE` names a file that holds the value) and on the command line");
        text.WriteLine("(`--maxmemory 1gb`). The command line wins over the environment, the environment over the file, the file over the");
        text.WriteLine(
            "default. *Live* settings can be changed by `CONFIG SET` while the server runs; those that are *protected*, only where");
        text.WriteLine("`enable-protected-configs` allows it.");
        text.WriteLine();
        text.WriteLine("| Setting | Default | Allowed | Unit | Live | |");
        text.WriteLine("|---|---|---|---|---|---|");
        foreach (Setting setting in Sorted(table, static s => s.Declared is { Note: "", Only: null })) WriteInEffect(text, setting);
        WritePart(text, table, "Kept without effect",
            "Accepted so that a redis.conf can be carried over; a changed value is noted at start.",
            static s => s.Declared.Note.Length > 0, static s => s.Declared.Note);
        WritePart(text, table, "Refused", "Accepted with the default only.",
            static s => s.Declared.Only is not null, static s => s.Declared.Why);
        return text.ToString();
    }

    private static void WriteInEffect(StringWriter text, Setting setting)
    {
        string unit = setting.Declared.Unit == SettingUnit.None ? "" : setting.Declared.Unit.ToString().ToLowerInvariant();
        string live = !setting.Declared.Live ? "" : setting.Declared.Protected ? "protected" : "yes";
        text.WriteLine($"| {Names(setting)} | {Quoted(setting)} | {setting.Range} | {unit} | {live} | {setting.Declared.Help} |");
    }

    private static void WritePart(
        StringWriter text, SettingTable table, string title, string about, Predicate<Setting> belongs, Func<Setting, string> reason)
    {
        text.WriteLine();
        text.WriteLine($"## {title}");
        text.WriteLine();
        text.WriteLine(about);
        text.WriteLine();
        text.WriteLine("| Setting | Default | What it is | Here |");
        text.WriteLine("|---|---|---|---|");
        foreach (Setting setting in Sorted(table, belongs))
            text.WriteLine($"| {Names(setting)} | {Quoted(setting)} | {setting.Declared.Help} | {reason(setting)} |");
    }

    private static List<Setting> Sorted(SettingTable table, Predicate<Setting> belongs)
    {
        var settings = new List<Setting>();
        foreach (Setting setting in table.All)
            if (belongs(setting))
                settings.Add(setting);
        settings.Sort(static (a, b) => string.CompareOrdinal(a.Name, b.Name));
        return settings;
    }

    private static string Names(Setting setting)
    {
        string names = $"`{setting.Name}`";
        foreach (string alias in SettingText.Words(setting.Declared.Aliases)) names += $", `{alias}`";
        return names;
    }

    /// <summary>The default in backquotes; the working directory is named, not printed.</summary>
    private static string Quoted(Setting setting) => setting.Name switch
    {
        "dir" => "working directory",
        _ => setting.Default.Length == 0 ? "" : $"`{setting.Default}`",
    };
}
