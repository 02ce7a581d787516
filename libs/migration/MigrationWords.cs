using System.Collections;
using System.Globalization;
using Garnet.Common;

namespace Garnet.Migration;

/// <summary>The words behind <c>migrate</c> on a command line, and the variables beside them.</summary>
public static class MigrationWords
{
    private const string Syntax = "garnet-server migrate SOURCE [TARGET] [options]; --help lists them", DefaultTarget = "127.0.0.1:6379";
    private const int PauseSecondsMax = 3600, WaitSecondsMax = 3600;

    /// <summary>Reads them.</summary>
    public static MigrationOptions Parse(IReadOnlyList<string> words, IDictionary environment)
    {
        ArgumentNullException.ThrowIfNull(words);
        var addresses = new List<string>();
        int? waitSeconds = null;
        var read = new MigrationOptions(new("", 0, "", ""), new("", 0, "", ""));
        for (int at = 0; at < words.Count; at++)
        {
            string word = words[at];
            string? value = at + 1 < words.Count ? words[at + 1] : null;
            switch (word)
            {
                case "--verify":
                    read = read with { Verified = value == "all" ? long.MaxValue : Number(word, value, int.MaxValue) };
                    at++;
                    break;
                case "--pause-source":
                    read = read with { PauseSeconds = Number(word, value, PauseSecondsMax) };
                    at++;
                    break;
                case "--timeout":
                    waitSeconds = Math.Max(1, Number(word, value, WaitSecondsMax));
                    at++;
                    break;
                case ['-', ..]:
                    read = Switch(read, word);
                    break;
                default:
                    addresses.Add(word);
                    break;
            }
        }
        if (addresses.Count is 0 or > 2)
        {
            throw Wrong(addresses.Count == 0 ? "it needs the address of a source"
                : $"it takes two addresses, and {addresses.Count} are named");
        }
        if (read.PauseSeconds > 0 && !read.CutsOver)
            throw Wrong("--pause-source is for --cut-over");
        if (read.Replaces && addresses.Count == 1)
            throw Wrong($"--replace removes what the target holds: it has to be named, also where it is {DefaultTarget}");
        if (read.Scans && (read.CutsOver || read.EndsCaughtUp))
            throw Wrong("--scan follows no changes: there is nothing to catch up with, and no cut-over");
        ServerAddress source = ServerAddress.Parse(addresses[0], Password(environment, "GARNET_SOURCE_PASSWORD"));
        ServerAddress target = ServerAddress.Parse(
            addresses.Count > 1 ? addresses[1] : DefaultTarget, Password(environment, "GARNET_TARGET_PASSWORD"));
        return read with
        {
            Source = source with { WaitSeconds = waitSeconds ?? source.WaitSeconds },
            Target = target with { WaitSeconds = waitSeconds ?? target.WaitSeconds },
        };
    }

    private static MigrationOptions Switch(MigrationOptions read, string word) => word switch
    {
        "--replace" => read with { Replaces = true },
        "--until-caught-up" => read with { EndsCaughtUp = true },
        "--cut-over" => read with { CutsOver = true },
        "--scan" => read with { Scans = true },
        "--json" => read with { AsJson = true },
        _ => throw Wrong($"it knows no {word}"),
    };

    private static int Number(string option, string? text, int max) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int number) && number <= max ? number
            : throw Wrong($"{option} needs a number up to {max}");

    // As with settings: NAME, or NAME_FILE for a file that holds it.
    private static string Password(IDictionary environment, string name)
    {
        if (environment[name + "_FILE"] is not string { Length: > 0 } path)
            return environment[name] as string ?? "";
        try
        {
            return File.ReadAllText(path).TrimEnd('\r', '\n');
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new GarnetException(ExitKind.Configuration, $"{name}_FILE cannot be used", e.Message, "Make the file readable");
        }
    }

    private static GarnetException Wrong(string why) => new(ExitKind.Configuration, "migrate cannot be run", why, Syntax);
}
