namespace Garnet.Server.Rights;

/// <summary>What is wrong with a rule.</summary>
internal enum RuleError
{
    None,
    Syntax,
    UnknownCommand,
    AllKeysAlready,
    AllChannelsAlready,
    NoSuchPassword,
    NotAHash,
    FirstArgumentOfSubcommand,
    NoSuchDatabase,
}
