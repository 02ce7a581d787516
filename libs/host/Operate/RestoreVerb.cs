using Garnet.Common;
using Garnet.Server;

namespace Garnet.Host.Operate;

/// <summary>The verb <c>restore</c>: a directory for a server, made of a backup.</summary>
internal static class RestoreVerb
{
    private const string Syntax = "garnet-server restore FILE --dir DIR [--key-file FILE] [--dry-run]";

    /// <summary>Returns the exit code.</summary>
    public static int Run(string[] words)
    {
        var rest = new List<string>(words);
        string directory = Take(rest, "--dir"), keyFile = Take(rest, "--key-file");
        bool isDryRun = rest.Remove("--dry-run");
        string? wrong = rest.Find(static word => word.StartsWith('-')) is { } option ? $"it knows no {option}"
            : rest.Count != 1 || rest[0].Length == 0 ? $"it takes one backup, and {rest.Count} are named"
            : directory.Length == 0 && !isDryRun ? "it needs a directory: --dir" : null;
        if (wrong is not null)
            throw Refusal(wrong);
        using TerminalLines lines = TerminalLines.OfStandardOutput();
        int code = BackupTool.Restore(rest[0], directory, keyFile, isDryRun, lines.Write, lines.WriteProgress);
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
