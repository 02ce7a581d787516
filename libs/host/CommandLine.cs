using Garnet.Common;

namespace Garnet.Host;

/// <summary>
/// The command line in two parts. The shell (help, version, files, verbs) are the few words that are read here; every other
/// <c>--name value [value...]</c> is a setting, as with redis-server. A bare first argument, or one behind ping, status or doctor, is a configuration file.
/// </summary>
internal sealed class CommandLine
{
    /// <summary>Words in the first place that are no file.</summary>
    public const string Verbs = "ping, status, doctor, check, repair, restore and migrate";

    public CommandVerb Verb { get; private set; }
    public string? ConfigFile { get; private set; }
    public string Reference { get; private set; } = "";
    /// <summary>The directory to check or repair.</summary>
    public string Directory { get; private set; } = "";
    /// <summary>True if a repair is to be done, not only proposed.</summary>
    public bool Applies { get; private set; }
    /// <summary>The file in persistent memory that the directory's log may have its end in; empty: none is named.</summary>
    public string MemoryFile { get; private set; } = "";
    /// <summary>True if the answer is to be for programs.</summary>
    public bool AsJson { get; private set; }
    /// <summary>True if a status is to be said again and again.</summary>
    public bool Watches { get; private set; }
    /// <summary>What a migration, or a restore, is told, as it stands.</summary>
    public string[] VerbWords { get; private set; } = [];
    /// <summary>The first word behind the configuration file that is no option, which is a setting's name as with redis-server, or a mistake; null if there is none.</summary>
    public string? BareName { get; private set; }
    /// <summary>Each setting's name and its words, in order.</summary>
    public List<KeyValuePair<string, string[]>> Settings { get; } = [];

    public static CommandLine Parse(string[] args)
    {
        var line = new CommandLine();
        int at = 0;
        if (args is ["check" or "repair", ..])
            return line.TakeDataVerb(args);
        if (args is ["help"])
            args = ["--help"];
        if (args is ["migrate" or "restore", ..])
            return line.TakeVerb(args[0] == "migrate" ? CommandVerb.Migrate : CommandVerb.Restore, args[1..]);
        if (args is ["ping" or "health", ..])
            (line.Verb, at) = (CommandVerb.Ping, 1);
        else if (args is ["status" or "doctor", ..])
            (line.Verb, at, args) = (args[0] == "status" ? CommandVerb.Status : CommandVerb.Doctor, 1, line.TakeAnswerOptions(args));
        if (at < args.Length && (!args[at].StartsWith('-') || args[at] == "-"))
            line.ConfigFile = args[at++];
        while (at < args.Length) at = IsShell(args[at], out string option) ? line.TakeShell(args, at, option) : line.TakeSetting(args, at);
        if (line.ConfigFile is "")
        {
            throw new GarnetException(ExitKind.Configuration, "the configuration file cannot be used", "its name is empty",
                "Name it, or leave it out");
        }
        return line;
    }

    private CommandLine TakeVerb(CommandVerb verb, string[] words)
    {
        (Verb, VerbWords) = (words.Any(static word => word is "--help" or "-h") ? CommandVerb.Help : verb, words);
        return this;
    }

    private string[] TakeAnswerOptions(string[] args)
    {
        (AsJson, Watches) = (args.Contains("--json"), args[0] == "status" && args.Contains("--watch"));
        return [.. args.Where(word => word != "--json" && !(Watches && word == "--watch"))];
    }

    private CommandLine TakeDataVerb(string[] args)
    {
        const string MemoryOption = "--aof-pm-path";
        bool repairs = args[0] == "repair";
        List<string> rest = [.. args[1..]];
        bool applies = repairs && rest.Remove("--apply");
        if (rest.IndexOf(MemoryOption) is var at && at >= 0 && at + 1 < rest.Count)
        {
            MemoryFile = rest[at + 1];
            rest.RemoveRange(at, 2);
        }
        string? wrong = rest.Find(static word => word.StartsWith('-')) switch
        {
            MemoryOption => $"{MemoryOption} needs a file",
            { } option => $"it knows no {option}",
            null when rest.Count == 0 => "it needs a directory",
            null => rest.Count == 1 ? null : $"it takes one directory, and {rest.Count} are named",
        };
        if (wrong is not null)
        {
            throw new GarnetException(ExitKind.Configuration, $"{args[0]} cannot be run", wrong,
                $"garnet-server {args[0]} DIR{(repairs ? " [--apply]" : "")} [{MemoryOption} FILE]");
        }
        (Verb, Directory, Applies) = (repairs ? CommandVerb.RepairData : CommandVerb.CheckData, rest[0], applies);
        return this;
    }

    /// <summary><paramref name="option"/>: the word without a value that stands behind <c>=</c>.</summary>
    private static bool IsShell(string argument, out string option)
    {
        int equals = argument.IndexOf('=');
        option = equals > 0 ? argument[..equals] : argument;
        if (option is "--config" or "--check-config")
            return true;
        return argument is "--help" or "-h" or "--version" or "-v" or "--print-reference";
    }

    private int TakeShell(string[] args, int at, string option)
    {
        if (option is "--help" or "-h" or "--version" or "-v")
        {
            Verb = option is "--help" or "-h" ? CommandVerb.Help : CommandVerb.Version;
            return args.Length; // what follows is not read: who asks for help may have got it wrong
        }
        bool isJoined = option.Length < args[at].Length;
        if (!isJoined && at + 1 == args.Length)
            throw Missing(option);
        string value = isJoined ? args[at][(option.Length + 1)..] : args[at + 1];
        if (option == "--print-reference")
            (Verb, Reference) = (CommandVerb.PrintReference, value);
        else ConfigFile = value;
        if (option == "--check-config")
            Verb = CommandVerb.CheckConfig;
        return at + (isJoined ? 1 : 2);
    }

    private int TakeSetting(string[] args, int at)
    {
        string name = args[at].StartsWith("--", StringComparison.Ordinal) ? args[at][2..] : args[at];
        if (!args[at].StartsWith('-'))
            BareName ??= args[at];
        int end = at + 1;
        while (end < args.Length && !args[end].StartsWith("--", StringComparison.Ordinal)) end++;
        int equals = name.IndexOf('=', StringComparison.Ordinal);
        string[] words = args[(at + 1)..end];
        if (equals > 0)
            (name, words) = (name[..equals], [name[(equals + 1)..], .. words]);
        Settings.Add(new(name, words));
        return end;
    }

    private static GarnetException Missing(string option)
        => new(ExitKind.Configuration, $"{option} cannot be used", "it needs a value", "--help lists the options");
}
