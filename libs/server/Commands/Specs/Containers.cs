using System.Text;
using Garnet.Server.Clients;

namespace Garnet.Server.Commands;

/// <summary>What every command with subcommands shares: the refusal of an unknown one, and HELP from the specs.</summary>
internal static class Containers
{
    private const int EchoedBytesMax = 128;

    internal static Reply RefuseUnknown(ref Call call) => call.FailText(UnknownText(ref call));

    /// <summary>Redis's sentence about a subcommand there is not.</summary>
    internal static string UnknownText(ref Call call)
    {
        ReadOnlySpan<byte> name = call[1];
        string shown = Encoding.Latin1.GetString(name[..Math.Min(name.Length, EchoedBytesMax)]);
        CommandSpec spec = call.Server.Commands.Specs[call.Client.LastCommand];
        string parent = spec.Name.Split('|')[0], orMore = spec.TellsArityTogether ? " or wrong number of arguments for" : "";
        return $"ERR unknown subcommand{orMore} '{shown}'. Try {parent} HELP.";
    }

    internal static Reply Help(ref Call call)
    {
        CommandTable table = call.Server.Commands;
        string parent = table.Specs[call.Client.LastCommand].Name.Split('|')[0];
        int number = table.FindByFullName(Encoding.ASCII.GetBytes(parent));
        IEnumerable<CommandSpec> children = table.Children(number).Select(child => table.Specs[child]);
        // Of commands of our own with a point in their names, as TIER.WHERE, HELP is all that the container has.
        CommandSpec[] dotted = [.. table.Specs.Where(spec => spec.Name.StartsWith(parent + ".", StringComparison.Ordinal))];
        string subcommand = dotted.Length > 0 ? $"{parent}.<subcommand>" : $"{parent} <subcommand>";
        var lines = new List<string> { $"{subcommand} [<arg> [value] [opt] ...]. Subcommands are:" };
        foreach (CommandSpec spec in dotted.Concat(children))
        {
            lines.Add($"{spec.ShortName} {spec.Syntax}".TrimEnd());
            lines.Add("    " + spec.Summary);
        }

        call.Out.Array(lines.Count);
        foreach (string line in lines)
            call.Out.Simple(Encoding.UTF8.GetBytes(line));
        return Reply.Sent;
    }
}
