using Garnet.Server.Clients;
using Garnet.Server.Rights;

namespace Garnet.Server.Commands;

/// <summary>The categories of a command: what follows from its flags and group, and what its spec adds.</summary>
internal static class SpecCategories
{
    internal static CommandCategories Of(CommandSpec spec)
    {
        CommandCategories added = CommandCategories.None, left = CommandCategories.None;
        foreach (string name in spec.Categories.Split(' ', StringSplitOptions.RemoveEmptyEntries))
        {
            if (name[0] == '-')
                left |= CategoryNames.Find(name[1..]);
            else
                added |= CategoryNames.Find(name);
        }

        if ((spec.Flags & CommandFlags.Container) != 0)
            return added | CommandCategories.Slow; // its subcommands are sorted, not what groups them
        return (added | OfGroup(spec.Group) | OfFlags(spec.Flags, spec.Group == "scripting")) & ~left;
    }

    private static CommandCategories OfFlags(CommandFlags flags, bool scripts)
    {
        return ((flags & CommandFlags.Fast) != 0 ? CommandCategories.Fast : CommandCategories.Slow)
            | For(CommandFlags.Write, CommandCategories.Write)
            | For(scripts ? CommandFlags.None : CommandFlags.ReadOnly, CommandCategories.Read)
            | For(CommandFlags.Admin, CommandCategories.Admin | CommandCategories.Dangerous)
            | For(CommandFlags.PubSub, CommandCategories.PubSub)
            | For(CommandFlags.Blocking, CommandCategories.Blocking);

        CommandCategories For(CommandFlags flag, CommandCategories its) => (flags & flag) != 0 ? its : CommandCategories.None;
    }

    private static CommandCategories OfGroup(string group) => group switch
    {
        "generic" => CommandCategories.Keyspace,
        "string" => CommandCategories.String,
        "bitmap" => CommandCategories.Bitmap,
        "hyperloglog" => CommandCategories.HyperLogLog,
        "hash" => CommandCategories.Hash,
        "list" => CommandCategories.List,
        "set" => CommandCategories.Set,
        "sorted-set" => CommandCategories.SortedSet,
        "geo" => CommandCategories.Geo,
        "stream" => CommandCategories.Stream,
        "connection" => CommandCategories.Connection,
        "transactions" => CommandCategories.Transaction,
        "scripting" => CommandCategories.Scripting,
        "bulk" => CommandCategories.Bulk,
        _ => CommandCategories.None,
    };
}
