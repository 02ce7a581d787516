using System.Runtime.CompilerServices;

namespace Garnet.Host;

/// <summary>
/// The command line in two parts. The shell (help, version, files, verbs) is read by CommandLineParser and declared in
/// <see cref="ShellOptions"/>; every other <c>--name value [value...]</c> is a setting, as with redis-server. A bare
/// first argument is a configuration file.
/// L1: the parser's assembly is loaded only if a shell option is present: it costs more than the rest of the start.
/// </summary>
internal sealed class CommandLine
{
    public CommandVerb Verb { get; private set; }
    public string? ConfigFile { get; private set; }
    public string Reference { get; private set; } = "";
    public int ExitCode { get; private set; }
    /// <summary>Each setting's name and its words, in order.</summary>
    public List<KeyValuePair<string, string[]>> Settings { get; } = [];

    public static CommandLine Parse(string[] args)
    {
        var line = new CommandLine();
        var shell = new List<string>();
        int at = 0;
        if (args.Length > 0 && args[0] is "ping" or "health") shell.Add(args[at++]);
        else if (args.Length > 0 && !args[0].StartsWith('-') || args is ["-", ..]) line.ConfigFile = args[at++];
        while (at < args.Length) at = IsShell(args[at]) ? TakeShell(args, at, shell) : line.TakeSetting(args, at);
        if (shell.Count > 0) line.ReadShell([.. shell]); // L1
        return line;
    }

    private static bool IsShell(string argument)
        => argument is "--help" or "-h" or "--version" or "-v" or "--config" or "--check-config" or "--print-reference"
            || argument.StartsWith("--config=", StringComparison.Ordinal)
            || argument.StartsWith("--check-config=", StringComparison.Ordinal);

    private static int TakeShell(string[] args, int at, List<string> shell)
    {
        shell.Add(args[at] switch { "-h" => "--help", "-v" => "--version", _ => args[at] });
        bool takesValue = args[at] is "--config" or "--check-config" or "--print-reference";
        if (takesValue && at + 1 < args.Length) shell.Add(args[++at]);
        return at + 1;
    }

    private int TakeSetting(string[] args, int at)
    {
        string name = args[at].StartsWith("--", StringComparison.Ordinal) ? args[at][2..] : args[at];
        int end = at + 1;
        while (end < args.Length && !args[end].StartsWith("--", StringComparison.Ordinal)) end++;
        int equals = name.IndexOf('=', StringComparison.Ordinal);
        string[] words = args[(at + 1)..end];
        if (equals > 0) (name, words) = (name[..equals], [name[(equals + 1)..], .. words]);
        Settings.Add(new(name, words));
        return end;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void ReadShell(string[] shell)
    {
        ShellOptions? options = ShellOptions.Read(shell, out int exitCode);
        ExitCode = exitCode;
        if (options is null)
        {
            Verb = CommandVerb.Done;
            return;
        }
        ConfigFile = options.CheckConfig ?? options.Config ?? ConfigFile;
        Reference = options.Reference ?? "";
        if (options.CheckConfig is not null) Verb = CommandVerb.CheckConfig;
        else if (options.Reference is not null) Verb = CommandVerb.PrintReference;
        else if (options.Verb is not null) Verb = CommandVerb.Ping;
    }
}
