using CommandLine;
using CommandLine.Text;
using Garnet.Common;

namespace Garnet.Host;

/// <summary>The options around the settings, as CommandLineParser reads them.</summary>
internal sealed class ShellOptions
{
    private const string Usage = """

        Usage: garnet-server [FILE] [options] [--SETTING VALUE ...]
               garnet-server ping [--SETTING VALUE ...]     exits 0 if the server answers
               garnet-server check DIR                      says what is sound in a data directory, and what is not
               garnet-server repair DIR [--apply]           proposes a repair, or does it, keeping the originals

        Settings come from, later wins: defaults, FILE, environment (GARNET_MAXMEMORY=1gb), command line (--maxmemory 1gb).
        They are named as in redis.conf; garnet-server --print-reference settings lists them. FILE may be - for standard input.
        """;

    [Option("config", MetaValue = "FILE", HelpText = "Reads settings from FILE, in the syntax of redis.conf.")]
    public string? Config { get; set; }

    [Option("check-config", MetaValue = "FILE", HelpText = "Checks FILE, says what is wrong with which line, and ends.")]
    public string? CheckConfig { get; set; }

    [Option("print-reference", Hidden = true)]
    public string? Reference { get; set; }

    /// <summary>The options, or null if what there was to print has been printed.</summary>
    public static ShellOptions? Read(string[] args, out int exitCode)
    {
        using var parser = new Parser(static with => with.HelpWriter = null);
        ParserResult<ShellOptions> result = parser.ParseArguments<ShellOptions>(args);
        exitCode = 0;
        if (result is Parsed<ShellOptions> parsed) return parsed.Value;
        bool asked = result.Errors.All(static error => error is HelpRequestedError or VersionRequestedError);
        if (!asked) exitCode = (int)ExitKind.Configuration;
        TextWriter output = asked ? Console.Out : Console.Error;
        output.WriteLine(result.Errors.IsVersion() ? Banner.Name : Help(result));
        return null;
    }

    private static string Help(ParserResult<ShellOptions> result) => HelpText.AutoBuild(result, help =>
    {
        help.Heading = Banner.Name;
        help.Copyright = "A server for the Redis protocol.";
        help.AdditionalNewLineAfterOption = false;
        help.AddPreOptionsText(Usage);
        return HelpText.DefaultParsingErrorsHandler(result, help);
    }, static example => example);
}
