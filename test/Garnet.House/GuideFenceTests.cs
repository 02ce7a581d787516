using System.Text.RegularExpressions;

namespace Garnet.House;

/// <summary>What a document shows to be typed can be pasted into a shell: prose beside a command would run too (<c>; exit code 0</c> ends the reader's shell), and what stands below a server never runs.</summary>
public sealed partial class GuideFenceTests
{
    [Test]
    public void Words_beside_a_command_are_a_comment() => AllowList.Judge("fence-prose", Lines()
        .Where(static line => IsWithProse(line.Text))
        .Select(static line => new Finding(line.Place, "has words beside the command: put # in front of them, or make a table of it")));

    [Test]
    public void A_server_in_the_foreground_ends_a_block() => AllowList.Judge("fence-stays", Lines()
        .Where(static line => !line.IsLast && Stays(line.Text))
        .Select(static line => new Finding(line.Place, "does not return, and something stands below it: end the block there")));

    [TestCase("garnet-server check DIR     files; exit code 0 or 65", true)]
    [TestCase("garnet-server check DIR     # files; exit code 0 or 65", false)]
    [TestCase("redis-cli PING", false)]
    [TestCase("  up            2 h 1 min", false)]
    public void Prose_beside_a_command_is_found(string line, bool isFound) => Assert.That(IsWithProse(line), Is.EqualTo(isFound));

    [TestCase("garnet-server", true)]
    [TestCase("garnet-server --port 7000", true)]
    [TestCase("GARNET_REQUIREPASS=x garnet-server a.conf", true)]
    [TestCase("garnet-server a.conf > a.log &", false)]
    [TestCase("garnet-server status --json", false)]
    [TestCase("garnet-server status --watch", true)]
    [TestCase("dotnet run -c Release --project main/GarnetServer", true)]
    [TestCase("docker run garnet", true)]
    [TestCase("docker run -d garnet", false)]
    [TestCase("redis-cli ping", false)]
    [TestCase("ExecStart=/usr/bin/garnet-server --config a.conf", false)]
    public void What_does_not_return_is_known(string line, bool isFound) => Assert.That(Stays(line), Is.EqualTo(isFound));

    private static bool IsWithProse(string line) => Command().IsMatch(line) && Prose().IsMatch(line);

    private static bool Stays(string line) => Server().IsMatch(line) && !line.EndsWith('&');

    // Of blocks that name no language; what goes on in the next line is one.
    private static IEnumerable<(string Place, string Text, bool IsLast)> Lines() => DocumentTests.Documents().SelectMany(static document =>
        Fence().Matches(House.Text(document)).SelectMany(fence =>
        {
            string[] lines = GoesOn().Replace(fence.Groups[1].Value, " ").TrimEnd('\n').Split('\n');
            return lines.Select((line, at) => ($"{document}: {line.Trim()}", line, at == lines.Length - 1));
        }));

    [GeneratedRegex(@"^```\n(.*?)^```", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Fence();

    [GeneratedRegex(@"\s*\\\n\s*")]
    private static partial Regex GoesOn();

    [GeneratedRegex("^(?:garnet-server|redis-cli|redis-server|dotnet|docker|curl) ")]
    private static partial Regex Command();

    [GeneratedRegex(@"\S {2,}(?!#)\S")]
    private static partial Regex Prose();

    /// <summary>A server, or a screen, that stays until it is ended.</summary>
    [GeneratedRegex(@"^(?:\w+=\S+ )*(?:garnet-server(?! (?:check|repair|migrate|ping|status|doctor|--print-reference)\b)|garnet-server status.* --watch|dotnet run|docker run(?! -d))(?: |$)")]
    private static partial Regex Server();
}
