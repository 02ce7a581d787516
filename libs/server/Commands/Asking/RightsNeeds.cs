using Garnet.Server.Clients;
using Garnet.Server.Rights;

namespace Garnet.Server.Commands;

/// <summary>What rights each command needs, read out of the specs once; by command number.</summary>
internal sealed class RightsNeeds
{
    private readonly RightsNeed[] _needs;

    internal RightsNeeds(IReadOnlyList<CommandSpec> specs)
    {
        _needs = new RightsNeed[specs.Count];
        for (int id = 0; id < _needs.Length; id++) _needs[id] = Of(specs[id]);
    }

    internal ref readonly RightsNeed this[int command] => ref _needs[command];

    /// <summary>The commands as rules name them; the first spec is no command.</summary>
    internal static RuleCommands Named(IReadOnlyList<CommandSpec> specs)
    {
        var parents = new Dictionary<string, int>(StringComparer.Ordinal);
        var all = new RuleCommand[specs.Count - 1];
        for (int id = 1; id < specs.Count; id++)
        {
            CommandSpec spec = specs[id];
            if ((spec.Flags & CommandFlags.Container) != 0)
                parents.Add(spec.Name, id); // it stands before its subcommands
            int parent = spec.IsSubcommand ? parents[spec.Name[..spec.Name.IndexOf('|', StringComparison.Ordinal)]] : 0;
            all[id - 1] = new RuleCommand(id, spec.Name.ToLowerInvariant(), SpecCategories.Of(spec), parent);
        }
        return new RuleCommands(all);
    }

    /// <summary>What a usage of a key, in Redis's words, needs.</summary>
    internal static KeyAccess AccessOf(string? usage)
    {
        if (usage is null)
            return KeyAccess.None; // no keys
        KeyAccess access = usage.Contains("ACCESS", StringComparison.Ordinal) ? KeyAccess.Read : KeyAccess.None;
        bool writes = usage.Contains("UPDATE", StringComparison.Ordinal) || usage.Contains("INSERT", StringComparison.Ordinal)
            || usage.Contains("DELETE", StringComparison.Ordinal);
        return writes ? access | KeyAccess.Write : access;
    }

    private static RightsNeed Of(CommandSpec spec) => new()
    {
        Keys = spec.Keys,
        First = AccessOf(spec.Keys.Usage),
        Rest = spec.Keys.RestUsage is { Length: > 0 } ? AccessOf(spec.Keys.RestUsage) : AccessOf(spec.Keys.Usage),
        Channels = spec.Channels,
        Databases = spec.Databases,
        ReachesOwn = ReachesOwn(spec),
    };

    private static bool ReachesOwn(CommandSpec spec) =>
        spec.Databases == DatabaseReach.Own && spec.Group != "scripting"
            && (spec.Flags & (CommandFlags.Write | CommandFlags.ReadOnly)) != 0;
}
