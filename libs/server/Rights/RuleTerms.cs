namespace Garnet.Server.Rights;

/// <summary>What rules are read by.</summary>
/// <param name="commands">The commands that can be named.</param>
/// <param name="databases">How many databases there are.</param>
/// <param name="opensChannels">True if new users may use all channels (<c>acl-pubsub-default</c>); asked when one is made.</param>
internal sealed class RuleTerms(RuleCommands commands, int databases, Func<bool> opensChannels)
{
    internal RuleCommands Commands { get; } = commands;

    internal int Databases { get; } = databases;

    internal bool OpensChannels => opensChannels();
}
