namespace Garnet.Host.Test;

public sealed class ConfigFileTests
{
    [TestCase("a b  c", new[] { "a", "b", "c" })]
    [TestCase("\ta \"b c\"", new[] { "a", "b c" })]
    [TestCase("a 'it\\'s'", new[] { "a", "it's" })]
    [TestCase("a \"\\x41\\n\\\"\"", new[] { "a", "A\n\"" })]
    [TestCase("a \"\"", new[] { "a", "" })]
    [TestCase("a '\\n'", new[] { "a", "\\n" })]
    public void A_line_splits_as_in_redis(string line, string[] expected)
    {
        var words = new List<string>();
        Assert.That(ConfigWords.TrySplit(line, words), Is.True);
        Assert.That(words, Is.EqualTo(expected));
    }

    [TestCase("a \"b")]
    [TestCase("a 'b")]
    [TestCase("a \"b\"c")]
    public void Unbalanced_quotes_are_found(string line) => Assert.That(ConfigWords.TrySplit(line, []), Is.False);

    [Test]
    public void Lines_carry_their_place_and_comments_are_passed_over()
    {
        var problems = new List<string>();
        List<ConfigLine> lines = ConfigFile.Parse("f", ["# one", "", "port 1", "bind \"x", "  save 1 2"], problems);
        Assert.That(lines.Select(static line => line.Where), Is.EqualTo(new[] { "f:3", "f:5" }));
        Assert.That(problems, Is.EqualTo(new[] { "f:4: Unbalanced quotes in configuration line" }));
    }

    [Test]
    public void An_included_file_stands_in_place_of_its_line()
    {
        using var folder = new TestFolder();
        string inner = folder.Write("inner.conf", "port 2\n");
        string outer = folder.Write("outer.conf", "port 1\ninclude inner.conf\nport 3\n");
        List<ConfigLine> lines = ConfigFile.Read(outer, []);
        Assert.That(lines.Select(static line => line.Words[1]), Is.EqualTo(new[] { "1", "2", "3" }));
        Assert.That(lines[1].Where, Is.EqualTo($"{inner}:1"));
    }

    [Test]
    public void A_file_that_includes_itself_is_a_problem_not_a_crash()
    {
        using var folder = new TestFolder();
        string path = folder.Write("loop.conf", "include loop.conf\n");
        var problems = new List<string>();
        ConfigFile.Read(path, problems);
        Assert.That(problems.Single(), Does.Contain("more than 16 deep"));
    }

    [Test]
    public void A_missing_file_stops_the_start()
        => Assert.That(static () => ConfigFile.Read("/nonexistent/x.conf", []),
            Throws.TypeOf<Garnet.Common.GarnetException>().With.Property("Kind").EqualTo(Garnet.Common.ExitKind.Configuration));
}
