using System.Runtime.CompilerServices;
using Garnet.Common;

namespace Garnet.Host;

/// <summary>
/// The command line in two parts. The shell (help, version, files, verbs) is read by CommandLineParser and declared in
/// <see cref="ShellOptions"/>; every other <c>--name value [value...]</c> is a setting, as with redis-server. A bare
/// first argument is a configuration file.
/// host.L1: the parser's assembly is loaded only to print help, a version, a page or an error, and to check a file: it costs as
/// much as the whole start of a server. <c>--config</c> and <c>ping</c> are therefore read here as well.
/// </summary>
internal sealed class CommandLine
{
    public CommandVerb Verb { get; private set; }
    public string? ConfigFile { get; private set; }
    public string Reference { get; private set; } = "";
    /// <summary>The directory to check or repair.</summary>
    public string Directory { get; private set; } = "";
    /// <summary>True if a repair is to be done, not only proposed.</summary>
    public bool Applies { get; private set; }
    public int ExitCode { get; private set; }
    /// <summary>Each setting's name and its words, in order.</summary>
    public List<KeyValuePair<string, string[]>> Settings { get; } = [];

    public static CommandLine Parse(string[] args)
    {
        var line = new CommandLine();
        var shell = new List<string>();
        int at = 0;
        if (args is ["check" or "repair", ..]) return line.TakeDataVerb(args);
        if (args is ["ping" or "health", ..]) (line.Verb, at) = (CommandVerb.Ping, 1);
        else if (args.Length > 0 && !args[0].StartsWith('-') || args is ["-", ..]) line.ConfigFile = args[at++];
        while (at < args.Length)
        {
            if (args[at] == "--config" && at + 1 < args.Length) (line.ConfigFile, at) = (args[at + 1], at + 2);
            else at = IsShell(args[at]) ? TakeShell(args, at, shell) : line.TakeSetting(args, at);
        }
        if (shell.Count > 0) line.ReadShell([.. shell]); // host.L1
        return line;
    }

    private CommandLine TakeDataVerb(string[] args)
    {
        bool repairs = args[0] == "repair", applies = repairs && args is [.., "--apply"];
        string[] rest = args[1..(applies ? ^1 : ^0)];
        string? wrong = Array.Find(rest, static word => word.StartsWith('-')) is { } option ? $"it knows no {option}"
            : rest.Length switch { 0 => "it needs a directory", 1 => null, _ => $"it takes one directory, and {rest.Length} are named" };
        if (wrong is not null)
            throw new GarnetException(ExitKind.Configuration, $"{args[0]} cannot be run", wrong, $"garnet-server {args[0]} DIR{(repairs ? " [--apply]" : "")}");
        (Verb, Directory, Applies) = (repairs ? CommandVerb.RepairData : CommandVerb.CheckData, args[1], applies);
        return this;
    }

    private static bool IsShell(string argument)
        => argument is "--help" or "-h" or "--version" or "-v" or "--config" or "--check-config" or "--print-reference"
            || argument.StartsWith("--config=", StringComparison.Ordinal)
            || argument.StartsWith("--check-config=", StringComparison.Ordinal);

    private static int TakeShell(string[] args, int at, List<string> shell)
    {
        shell.Add(args[at] switch { "-h" => "--help", "-v" => "--version", _ => args[at] });
        if (args[at] is not ("--config" or "--check-config" or "--print-reference")) return at + 1;
        if (at + 1 == args.Length) throw Missing(args[at]);
        shell.Add(args[at + 1]);
        return at + 2;
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

    private static GarnetException Missing(string option)
        => new(ExitKind.Configuration, $"{option} cannot be used", "it needs a value", "--help lists the options");

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
    }
}
