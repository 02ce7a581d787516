using Garnet.Common;
using Garnet.Server;

namespace Garnet.Host.Operate;

/// <summary>
/// The verb <c>restore</c>: a directory for a server, made of a backup. It reads the settings as a start does, as it is they that say where that start looks.
/// </summary>
internal static class RestoreVerb
{
    private const string Syntax = "garnet-server restore BACKUP [FILE] --dir DIR [--SETTING VALUE ...] [--key-file FILE] [--dry-run]";

    /// <summary>Returns the exit code.</summary>
    public static int Run(string[] words)
    {
        var rest = new List<string>(words);
        string keyFile = Take(rest, "--key-file");
        bool isDryRun = rest.Remove("--dry-run");
        if (rest.Count == 0 || rest[0].Length == 0 || rest[0].StartsWith('-'))
            throw Refusal("it takes one backup, before everything else");
        CommandLine line = CommandLine.Parse([.. rest[1..]]);
        if (line.Verb != CommandVerb.Serve)
            throw Refusal("behind the backup it takes only a configuration file and settings");
        var settings = new ServerSettings();
        var table = new SettingTable();
        settings.Register(table);
        new SettingSources(settings, table, Syntax).AddAll(line);
        bool hasDirectory = table.TryFind("dir", out Setting? directory) && directory.Source != SettingSource.Default;
        if (!hasDirectory && !isDryRun)
            throw Refusal("it needs a directory: --dir");
        using TerminalLines lines = TerminalLines.OfStandardOutput();
        PersistenceSettings? place = hasDirectory ? settings.Persistence : null;
        int code = BackupTool.Restore(rest[0], place, keyFile, isDryRun, lines.Write, lines.WriteProgress);
        if (settings.Replication.ReplicaOf.Length > 0)
            lines.Write("These settings are a replica's (replicaof), which imports nothing: start without replicaof first.");
        return code == 0 && lines.Lost > 0 ? AnswerStream.CannotWrite($"{lines.Lost} lines are lost") : code;
    }

    private static string Take(List<string> words, string option)
    {
        int at = words.IndexOf(option);
        if (at < 0)
            return "";
        if (at + 1 == words.Count || words[at + 1].Length == 0)
            throw Refusal($"{option} needs a value");
        string value = words[at + 1];
        words.RemoveRange(at, 2);
        return value;
    }

    private static GarnetException Refusal(string why) => new(ExitKind.Configuration, "restore cannot be run", why, Syntax);
}
