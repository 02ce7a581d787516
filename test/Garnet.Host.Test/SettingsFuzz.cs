using System.Diagnostics;
using System.Globalization;
using Garnet.Common;
using Garnet.Common.Test;
using Garnet.Server;

namespace Garnet.Host.Test;

/// <summary>
/// Damaged configuration files: whatever the bytes, the start succeeds or is refused with a message, and what was accepted
/// prints as a text that is accepted again and prints the same.
/// </summary>
public sealed class SettingsFuzz
{
    private static readonly string[] Values =
        ["", "0", "-1", "1", "yes", "no", "1gb", "1g", "99999999999999999999", "-9223372036854775808", "50%", "\"", "\"\\x00\"", "'a b'", "* -::*",
         "normal 1 2 3", "900 1 300 10", "KEA", "50 99.9", "NaN", "1e308", "\\", "\u00e9", "0777", "5h", "allkeys-lru"];

    [Test]
    public void Any_file_is_taken_or_refused()
    {
        string seconds = Environment.GetEnvironmentVariable("GARNET_FUZZ_SECONDS") ?? (LongRun.IsWanted ? "20" : "1");
        int seed = Environment.GetEnvironmentVariable("GARNET_FUZZ_SEED") is { } given ? int.Parse(given) : Environment.TickCount;
        TestContext.Out.WriteLine($"GARNET_FUZZ_SEED={seed}");
        var random = new Random(seed);
        var clock = Stopwatch.StartNew();
        int rounds = 0;
        for (; clock.Elapsed.TotalSeconds < double.Parse(seconds, CultureInfo.InvariantCulture); rounds++) Round(random, seed);
        TestContext.Out.WriteLine($"{rounds} files");
    }

    private static void Round(Random random, int seed)
    {
        SettingTable table = Table();
        string[] lines = [.. Enumerable.Range(0, random.Next(1, 8)).Select(_ => Line(random, table))];
        var sources = new SettingSources(new ServerSettings(), table);
        foreach (ConfigLine line in ConfigFile.Parse("fuzz", lines, []))
            sources.AddCommandLine([new(line.Words[0], line.Words[1..])]);
        try
        {
            sources.Finish();
        }
        catch (GarnetException e)
        {
            Assert.That(e.Why, Is.Not.Empty, $"seed {seed}");
        }
        foreach (Setting setting in table.All)
        {
            if (setting.Declared.Secret || setting.Source == SettingSource.Default) continue;
            string text = setting.Text;
            string? refusal = Table().SetAtStart(setting.Name, text, SettingSource.CommandLine, "");
            Assert.That(refusal, Is.Null, $"{setting.Name} printed '{text}' and refuses it; seed {seed}");
            table.SetAtStart(setting.Name, text, SettingSource.CommandLine, "");
            Assert.That(setting.Text, Is.EqualTo(text), $"{setting.Name}; seed {seed}");
        }
    }

    private static string Line(Random random, SettingTable table)
    {
        string name = table.All[random.Next(table.All.Count)].Name;
        string line = name == "include" ? "port 1" : $"{name} {Values[random.Next(Values.Length)]}";
        if (random.Next(4) != 0) return line;
        int at = random.Next(line.Length);
        return line.Remove(at, 1).Insert(at, ((char)random.Next(0, 256)).ToString());
    }

    private static SettingTable Table()
    {
        var table = new SettingTable();
        new ServerSettings().Register(table);
        return table;
    }
}
