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

    [Test]
    public void Lolwut_tells_the_version_of_this_server_and_not_of_the_redis_it_is_like()
    {
        using var server = new EmbeddedServer();
        using var client = new TestClient(server.Server.Port);
        string version = typeof(RespServer).Assembly.GetName().Version!.ToString(3);
        Assert.That(client.Call("LOLWUT").TrimEnd(), Does.EndWith($"Garnet ver. {version}"));
        Assert.That(client.Call("INFO", "server"), Does.Contain($"garnet_version:{version}").And.Not.Contain($"redis_version:{version}"));
    }

    private static IEnumerable<string> Lines() =>
        File.ReadLines(Path.Combine(Repository.Root, "test", "golden", "commands.txt")).Where(static line => line.Length > 0 && line[0] != '#');
}
