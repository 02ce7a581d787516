using Garnet.Server.Commands;

namespace Garnet.Server.Test;

/// <summary>The commands that clients know: each is answered, or stands in the list with the reason why not.</summary>
public sealed class CommandListTests
{
    [Test]
    public void Every_known_command_is_answered_or_has_a_reason()
    {
        using var table = new CommandTable(CommandFamilies.Register);
        var answered = table.Specs.Select(static spec => spec.Name).ToHashSet(StringComparer.Ordinal);
        string[][] lines = [.. Lines().Select(static line => line.Split(": ", 2))];
        Assert.That(lines.Select(static line => line[0]), Is.Unique.And.Ordered.Using((IComparer<string>)StringComparer.Ordinal));
        Assert.That(lines.Where(line => line.Length == 1 && !answered.Contains(line[0])).Select(static line => line[0]), Is.Empty, "neither answered nor with a reason");
        Assert.That(lines.Where(line => line.Length == 2 && answered.Contains(line[0])).Select(static line => line[0]), Is.Empty, "answered: the reason goes");
        Assert.That(lines.Where(static line => line.Length == 2 && line[1].Trim().Length == 0), Is.Empty, "an empty reason");
    }

    /// <summary>Otherwise COMMAND DOCS takes all that stands beside it for one of the alternatives.</summary>
    [Test]
    public void Alternatives_of_a_syntax_stand_in_brackets()
    {
        using var table = new CommandTable(CommandFamilies.Register);
        Assert.That(table.Specs.Where(static spec => !IsBracketed(spec.Syntax)).Select(static spec => $"{spec.Name} {spec.Syntax}"), Is.Empty);
        Assert.That(!IsBracketed("key LEFT | RIGHT") && !IsBracketed("key [LEFT") && IsBracketed("key <LEFT | RIGHT> [a]"));
    }

    [Test]
    public void Commands_that_are_made_ahead_are_the_same_and_one_servers()
    {
        using var ahead = new CommandsAhead();
        using CommandTable first = ahead.Take(), second = ahead.Take(), usual = new(CommandFamilies.Register);
        Assert.That(second, Is.Not.SameAs(first));
        Assert.That(first.Specs.Select(static spec => spec.Name), Is.EqualTo(usual.Specs.Select(static spec => spec.Name)));
        Assert.That(second.Specs, Has.Count.EqualTo(usual.Specs.Count));
        using var untaken = new CommandsAhead();
    }

    [Test]
    public void Documentation_tells_alternatives_apart_and_signs_from_values()
    {
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        Assert.That(client.Call("COMMAND", "DOCS", "lmove"), Does.Contain("left-choice type oneof arguments").And.Contain("token RIGHT"));
        Assert.That(client.Call("COMMAND", "DOCS", "xadd"), Does.Contain("token *").And.Contain("token ~"));
    }

    [Test]
    public void Lolwut_tells_the_version_of_this_server_and_not_of_the_redis_it_is_like()
    {
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        string version = typeof(RespServer).Assembly.GetName().Version!.ToString(3);
        Assert.That(client.Call("LOLWUT").TrimEnd(), Does.EndWith($"Garnet ver. {version}"));
        Assert.That(client.Call("INFO", "server"), Does.Contain($"garnet_version:{version}").And.Not.Contain($"redis_version:{version}"));
    }

    private static bool IsBracketed(string syntax)
    {
        int depth = 0;
        foreach (char c in syntax)
        {
            depth += c is '[' or '<' ? 1 : c is ']' or '>' ? -1 : 0;
            if (depth < 0 || (c == '|' && depth == 0)) return false;
        }

        return depth == 0;
    }

    private static IEnumerable<string> Lines() =>
        File.ReadLines(Path.Combine(Repository.Root, "test", "golden", "commands.txt")).Where(static line => line.Length > 0 && line[0] != '#');
}
