namespace Garnet.Host.Test;

public sealed class CommandLineTests
{
    [Test]
    public void A_bare_first_argument_is_a_file_and_the_rest_are_settings()
    {
        CommandLine line = CommandLine.Parse(["x.conf", "--port", "1", "--save", "900", "1", "--maxmemory=1gb", "--save", ""]);
        Assert.That(line.ConfigFile, Is.EqualTo("x.conf"));
        Assert.That(line.Settings.Select(static s => $"{s.Key}:{string.Join('+', s.Value)}"),
            Is.EqualTo(new[] { "port:1", "save:900+1", "maxmemory:1gb", "save:" }));
    }

    [Test]
    public void A_negative_number_is_a_value()
        => Assert.That(CommandLine.Parse(["--slowlog-log-slower-than", "-1"]).Settings.Single().Value, Is.EqualTo(new[] { "-1" }));

    [TestCase("ping")]
    [TestCase("health")]
    public void A_verb_takes_the_same_settings(string verb)
    {
        CommandLine line = CommandLine.Parse([verb, "--config", "f", "--port", "2"]);
        Assert.That((line.Verb, line.ConfigFile, line.Settings.Count), Is.EqualTo((CommandVerb.Ping, "f", 1)));
    }

    [TestCase("Ping", "ping", "x.conf", "--port", "2")]
    [TestCase("Status", "status", "x.conf", "--json", "--port", "2")]
    [TestCase("Status", "status", "--json", "x.conf", "--port", "2")]
    [TestCase("Doctor", "doctor", "--json", "x.conf", "--port", "2")]
    public void A_verb_takes_a_file_as_a_start_does(string verb, params string[] words)
    {
        CommandLine line = CommandLine.Parse(words);
        Assert.That(($"{line.Verb}", line.ConfigFile, line.Settings.Count), Is.EqualTo((verb, "x.conf", 1)));
        Assert.That(line.AsJson, Is.EqualTo(words.Contains("--json")));
    }

    [TestCase("")]
    [TestCase("ping", "")]
    [TestCase("doctor", "--json", "")]
    [TestCase("--config", "")]
    [TestCase("--config=")]
    [TestCase("--check-config", "")]
    public void A_file_without_a_name_is_refused(params string[] words)
        => Assert.That(() => CommandLine.Parse(words), Throws.TypeOf<Garnet.Common.GarnetException>().With.Property("Why").EqualTo("its name is empty"));

    [Test]
    public void An_option_without_its_value_is_refused()
        => Assert.That(static () => CommandLine.Parse(["--config"]), Throws.TypeOf<Garnet.Common.GarnetException>());

    [TestCase("--help", "--port", "x")]
    [TestCase("ping", "-h")]
    [TestCase("x.conf", "--config", "y", "--help")]
    public void Help_is_given_whatever_else_is_said(params string[] words) => Assert.That(CommandLine.Parse(words).Verb, Is.EqualTo(CommandVerb.Help));

    [TestCase("--version")]
    [TestCase("-v")]
    public void The_version_is_asked_for_in_two_ways(string word) => Assert.That(CommandLine.Parse([word]).Verb, Is.EqualTo(CommandVerb.Version));

    [Test]
    public void An_option_takes_its_value_behind_a_sign_or_a_blank()
    {
        CommandLine joined = CommandLine.Parse(["--config=a=b", "--port", "1"]), apart = CommandLine.Parse(["--config", "a=b", "--port", "1"]);
        Assert.That((joined.ConfigFile, joined.Settings.Count), Is.EqualTo(("a=b", 1)));
        Assert.That((apart.ConfigFile, apart.Settings.Count), Is.EqualTo(("a=b", 1)));
    }

    [TestCase("it needs a directory", "check")]
    [TestCase("it needs a directory", "repair", "--apply")]
    [TestCase("it knows no --foo", "check", "d", "--foo")]
    [TestCase("it knows no --apply", "check", "d", "--apply")]
    [TestCase("it takes one directory, and 2 are named", "repair", "d", "e")]
    [TestCase("--aof-pm-path needs a file", "check", "d", "--aof-pm-path")]
    [TestCase("it needs a directory", "check", "--aof-pm-path", "f")]
    public void What_is_wrong_with_a_call_of_a_tool_is_said(string said, params string[] args)
        => Assert.That(() => CommandLine.Parse(args), Throws.TypeOf<Garnet.Common.GarnetException>().With.Property("Why").EqualTo(said));

    [TestCase("repair", "d", "--apply", "--aof-pm-path", "f")]
    [TestCase("repair", "--aof-pm-path", "f", "d", "--apply")]
    public void A_tool_is_told_of_persistent_memory_in_any_order(params string[] args)
    {
        CommandLine line = CommandLine.Parse(args);
        Assert.That((line.Verb, line.Directory, line.Applies, line.MemoryFile), Is.EqualTo((CommandVerb.RepairData, "d", true, "f")));
    }

    [Test]
    public void A_check_names_its_file()
    {
        CommandLine line = CommandLine.Parse(["--check-config", "f"]);
        Assert.That((line.Verb, line.ConfigFile), Is.EqualTo((CommandVerb.CheckConfig, "f")));
    }
}
