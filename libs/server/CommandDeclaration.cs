using Garnet.Server.Commands;
using Garnet.Server.Families.Admin;

namespace Garnet.Server;

/// <summary>What there is to know of a command without a server: a row of the reference page.</summary>
/// <param name="Name">In capitals; that of a subcommand behind its container's, with a blank between.</param>
/// <param name="Syntax">Its arguments in the notation of the reference.</param>
/// <param name="Group">As in the Redis documentation.</param>
/// <param name="Summary">A sentence.</param>
/// <param name="Since">The first version of Redis (or Valkey) that knew it, or of this server if it is its own.</param>
/// <param name="Complexity">Cost in the usual notation.</param>
/// <param name="Categories">Its ACL categories, each with its @.</param>
public sealed record CommandDeclaration(
    string Name, string Syntax, string Group, string Summary, string Since, string Complexity, IReadOnlyList<string> Categories)
{
    /// <summary>All commands that run something, in the order of their groups and names.</summary>
    public static IReadOnlyList<CommandDeclaration> All()
    {
        using CommandTable table = new(CommandFamilies.Register);
        List<CommandDeclaration> all = [];
        for (int id = 1; id < table.Specs.Count; id++)
        {
            if (!table.Children(id).Any() && table.Specs[id].ShortName != "HELP")
                all.Add(Of(table.Specs[id]));
        }

        return [.. all.OrderBy(static one => one.Group, StringComparer.Ordinal).ThenBy(static one => one.Name, StringComparer.Ordinal)];
    }

    private static CommandDeclaration Of(CommandSpec spec) => new(
        spec.Name.Replace('|', ' '), spec.Syntax, spec.Group, spec.Summary, spec.Since, spec.Complexity, CommandReply.Categories(spec));
}
