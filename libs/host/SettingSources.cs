using System.Collections;
using Garnet.Common;
using Garnet.Server;

namespace Garnet.Host;

/// <summary>
/// Fills the settings of one server, in this order, later wins: defaults, configuration file, environment, command line.
/// host.P1: every problem of every source is found before the start is refused, so that one run shows them all.
/// host.P2: a secret's value appears in no message.
/// </summary>
internal sealed class SettingSources(
    ServerSettings settings, SettingTable table, string next = "Correct them and start again; --check-config FILE checks a file alone")
{
    /// <summary>The directive that is no setting: there are as many as there are users.</summary>
    public const string UserWord = "user";

    private const string Prefix = "GARNET_", CommandLineWord = "command line";

    private readonly List<string> _problems = [];

    /// <summary>What an operator should know although it does not stop the start.</summary>
    public List<string> Notices { get; } = [];

    /// <summary>All of them, as a start reads them; throws if anything is wrong.</summary>
    public void AddAll(CommandLine line)
    {
        AddFile(line.ConfigFile);
        if (line.Verb != CommandVerb.CheckConfig)
            AddEnvironment(Environment.GetEnvironmentVariables());
        AddCommandLine(line.Settings, line.ConfigFile, line.BareName);
        Finish();
    }

    public void AddFile(string? path)
    {
        if (path is null)
            return;
        List<ConfigLine> lines = path == "-"
            ? ConfigFile.Parse("standard input", StandardInput(), _problems)
            : ConfigFile.Read(path, _problems);
        foreach (ConfigLine line in lines) Take(line);
    }

    private void Take(ConfigLine line)
    {
        if (line.Words[0].Equals(UserWord, StringComparison.OrdinalIgnoreCase))
            settings.Security.Users.Add(new UserLine(line.Where, line.Words[1..]));
        else Set(line.Words[0], line.Words.AsSpan(1), SettingSource.File, line.Where);
    }

    /// <summary>
    /// <c>GARNET_MAXMEMORY_POLICY</c> style names; <c>GARNET_X_FILE</c> names a file that holds the value of X. Variables that
    /// an orchestrator makes for a service called garnet (<c>GARNET_PORT=tcp://...</c>) are not ours and are passed over.
    /// </summary>
    public void AddEnvironment(IDictionary variables)
    {
        foreach (DictionaryEntry variable in variables)
        {
            string key = (string)variable.Key;
            string value = (string?)variable.Value ?? "";
            if (!key.StartsWith(Prefix, StringComparison.Ordinal) || IsServiceLink(key, value))
                continue;
            string name = NameOf(key[Prefix.Length..]);
            if (table.TryFind(name, out _))
                Set(name, [value], SettingSource.Environment, key);
            else if (name.EndsWith("-file", StringComparison.Ordinal) && table.TryFind(name[..^5], out _))
                SetFromFile(name[..^5], value, key);
            else Notices.Add($"The environment variable {key} names no setting{SuggestedVariable(name)} and is ignored.");
        }
    }

    /// <summary>What stands behind the file, if one is named.</summary>
    /// <param name="settings">Each setting with its words.</param>
    /// <param name="file">The word that was taken for the configuration file.</param>
    /// <param name="bareName">The first name of a setting that has no dashes before it.</param>
    public void AddCommandLine(IEnumerable<KeyValuePair<string, string[]>> settings, string? file = null, string? bareName = null)
    {
        foreach ((string name, string[] words) in settings)
        {
            if (name == bareName && file is not null && !table.TryFind(name, out _))
                _problems.Add($"{CommandLineWord}: '{file}' is taken for the configuration file, and '{name}' is no setting"
                    + $"{Suggestion(name)}: one file is named, first, and settings follow it as --NAME VALUE; --help says more");
            else if (words.Length > 1 && table.TryFind(name, out Setting? setting) && !setting.TakesWords)
                _problems.Add($"{CommandLineWord}: {name} '{string.Join(' ', words)}': {SettingText.WrongCount}: it takes one; "
                    + "a configuration file goes first (garnet-server FILE --NAME VALUE)");
            else Set(name, words, SettingSource.CommandLine, CommandLineWord);
        }
    }

    /// <summary>Values given by the program that embeds the server; they count as its command line.</summary>
    public void AddOptions(IEnumerable<KeyValuePair<string, string>> settings)
    {
        foreach ((string name, string value) in settings) Set(name, [value], SettingSource.CommandLine, "options");
    }

    /// <summary>Throws if anything was wrong (host.P1); else notes the settings that have no effect.</summary>
    public void Finish()
    {
        if (table.TryFind("dir", out Setting? directory) && directory.Source != SettingSource.Default && directory.Text.Length == 0)
            _problems.Add($"{directory.Where}: dir is empty: name a directory, "
                + "'.' for the one that the server is started in, or leave it out to keep nothing");
        if (settings.Security.Users.Count > 0)
            _problems.AddRange(ConfiguredUsers.ProblemsOf(settings));
        if (_problems.Count > 0)
        {
            throw new GarnetException(ExitKind.Configuration, "the settings cannot be used", string.Join("\n  ", ["", .. _problems]),
                next);
        }
        NoteSavePoints();
        NoteTier();
        NoteMemory();
        if (!table.TryFind("backup-path", out Setting? backups) || backups.Text.Length == 0)
            NoteIdle("there are no backups without backup-path", "backup-every", "backup-keep", "backup-key-file");
        foreach (Setting setting in table.All)
        {
            if (setting.Source == SettingSource.Default || setting.Declared.Note.Length == 0 || setting.Text == setting.Default)
                continue;
            Notices.Add($"{setting.Name} ({setting.Where}) has no effect: {setting.Declared.Note}");
        }
    }

    // A file of redis that switches the append-only file off and has no save lines means redis's own save points.
    private void NoteSavePoints()
    {
        bool isOff = table.TryFind("appendonly", out Setting? log) && log is { Source: SettingSource.File, Text: "no" };
        if (!isOff || !table.TryFind("save", out Setting? save) || save.Source != SettingSource.Default)
            return;
        if (table.TryFind("dir", out Setting? directory) && directory.Source == SettingSource.Default)
        {
            Notices.Add("appendonly is no and there is no dir: nothing is kept, data is gone after a restart");
            return;
        }
        table.SetAtStart(save.Name, SaveRules.OfRedis.Text, SettingSource.File, log!.Where);
        Notices.Add($"appendonly is no and there are no save lines: snapshots are taken "
                + $"as redis takes them by default (save {SaveRules.OfRedis.Text})");
    }

    private void NoteTier()
    {
        bool hasDisk = HasDirectory("tier-path"), hasMemory = HasDirectory("tier-pm-path");
        if (!hasDisk)
            NoteIdle("there is no tier on a disk without tier-path", "tier-size", "tier-io-uring");
        if (!hasMemory)
            NoteIdle("there is no tier in persistent memory without tier-pm-path", "tier-pm-size");
        if (!hasDisk && !hasMemory)
            NoteIdle("there is no tier without tier-path or tier-pm-path", "tier-promotion");
    }

    // False if it is not set; one that is not there is noted.
    private bool HasDirectory(string name)
    {
        string path = table.TryFind(name, out Setting? setting) ? setting.Text : "";
        if (path.Length > 0 && !Directory.Exists(path))
            Notices.Add($"{name} ({setting!.Where}) names no directory on this machine: {path}; a start is refused until it is there");
        return path.Length > 0;
    }

    private void NoteIdle(string why, params string[] names)
    {
        foreach (string name in names)
        {
            if (table.TryFind(name, out Setting? other) && other.Source != SettingSource.Default)
                Notices.Add($"{name} ({other.Where}) has no effect: {why}");
        }
    }

    private void NoteMemory()
    {
        bool isNamed = table.TryFind("aof-pm-path", out Setting? path) && path.Text.Length > 0;
        if (isNamed && table.TryFind("dir", out Setting? directory) && directory.Source == SettingSource.Default)
            Notices.Add($"aof-pm-path ({path!.Where}) has no effect: there is no log without dir");
        else if (isNamed && table.TryFind("appendonly", out Setting? log) && log is { Text: "no", Source: not SettingSource.Default })
            Notices.Add($"aof-pm-path ({path!.Where}) has no effect: appendonly is no ({log.Where})");
        else if (isNamed && !File.Exists(path!.Text))
            Notices.Add($"aof-pm-path ({path.Where}) names no file on this machine: {path.Text}; a start is refused until it is there");
        if (!isNamed && table.TryFind("pm-emulated-trust", out Setting? trust) && trust.Source != SettingSource.Default)
            Notices.Add($"pm-emulated-trust ({trust.Where}) has no effect: there is no persistent memory without aof-pm-path");
    }

    private static bool IsServiceLink(string key, string value)
        => key.StartsWith("GARNET_SERVICE_", StringComparison.Ordinal) || key.StartsWith("GARNET_PORT_", StringComparison.Ordinal)
            || (key == "GARNET_PORT" && value.Contains("://", StringComparison.Ordinal));

    private static string NameOf(string variable) => variable.ToLowerInvariant().Replace('_', '-');

    private static IEnumerable<string> StandardInput()
    {
        using var reader = new StreamReader(Console.OpenStandardInput());
        while (reader.ReadLine() is { } line) yield return line;
    }

    private void SetFromFile(string name, string path, string key)
    {
        try
        {
            Set(name, [File.ReadAllText(path).TrimEnd('\r', '\n')], SettingSource.Environment, key);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            _problems.Add($"{key}: {e.Message}");
        }
    }

    private void Set(string name, ReadOnlySpan<string> words, SettingSource source, string where)
    {
        if (!table.TryFind(name, out Setting? setting))
        {
            string why = ConfigCompatibility.WhyRejected(name) ?? $"there is no such setting{Suggestion(name)}";
            _problems.Add($"{where}: {name}: {why}");
            return;
        }
        bool countFits = words.Length == 1 || (words.Length > 1 && setting.TakesWords);
        string text = string.Join(' ', words);
        string? refusal = countFits ? table.SetAtStart(name, text, source, where) : SettingText.WrongCount;
        if (refusal is null)
            return;
        string shown = setting.Declared.Secret ? "" : $" '{text}'"; // host.P2
        // as redis words it
        bool saysIt = refusal.StartsWith("argument must be ", StringComparison.Ordinal) && refusal != SettingText.NotMemory;
        string range = setting.Range.Length > 0 && setting.Declared.Only is null && !saysIt
            && !refusal.Contains(setting.Range, StringComparison.Ordinal)
                ? $" (allowed: {setting.Range})"
                : "";
        _problems.Add($"{where}: {name}{shown}: {refusal}{range}");
    }

    private string Suggestion(string name) => Nearest(name) is { } nearest ? $" (did you mean '{nearest.Name}'?)" : "";

    private string SuggestedVariable(string name)
    {
        (string stem, string end) = name.EndsWith("-file", StringComparison.Ordinal) ? (name[..^5], "_FILE") : (name, "");
        return Nearest(stem) is { } nearest
            ? $" (did you mean {Prefix}{nearest.Name.ToUpperInvariant().Replace('-', '_')}{end}?)"
            : "";
    }

    private Setting? Nearest(string name)
    {
        Setting? nearest = null;
        int best = 3;
        foreach (Setting setting in table.All)
        {
            int distance = Distance(name.ToLowerInvariant(), setting.Name, best);
            if (distance < best)
                (nearest, best) = (setting, distance);
        }
        return nearest;
    }

    /// <summary>Edits between two names; <paramref name="limit"/> if the lengths alone differ by that much.</summary>
    private static int Distance(string a, string b, int limit)
    {
        if (Math.Abs(a.Length - b.Length) >= limit)
            return limit;
        int[] row = new int[b.Length + 1];
        for (int j = 0; j <= b.Length; j++) row[j] = j;
        for (int i = 1; i <= a.Length; i++)
        {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.Length; j++)
            {
                int change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.Min(change, Math.Min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.Length];
    }
}
