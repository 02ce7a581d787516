using Garnet.Server.Clients;
using Garnet.Server.Rights;

namespace Garnet.Server.Commands;

/// <summary>What rights each command needs, read out of the specs once; by command number.</summary>
internal sealed class RightsNeeds
{
    private readonly RightsNeed[] _needs;

    internal RightsNeeds(IReadOnlyList<CommandSpec> specs) => _needs = [.. specs.Select(Of)];

    internal ref readonly RightsNeed this[int command] => ref _needs[command];

    /// <summary>The commands as rules name them; the first spec is no command.</summary>
    internal static RuleCommands Named(IReadOnlyList<CommandSpec> specs)
    {
        var ids = specs.Select(static (spec, id) => (spec.Name, id)).ToDictionary(static pair => pair.Name, static pair => pair.id);
        return new RuleCommands(specs.Select(Named).Skip(1));

        RuleCommand Named(CommandSpec spec, int id) => new(id, spec.Name.ToLowerInvariant(), SpecCategories.Of(spec), ParentOf(spec));
        int ParentOf(CommandSpec spec) => spec.IsSubcommand ? ids[spec.Name[..spec.Name.IndexOf('|')]] : 0;
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
