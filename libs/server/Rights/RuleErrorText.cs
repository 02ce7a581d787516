namespace Garnet.Server.Rights;

/// <summary>What is wrong with a rule, as Redis words it.</summary>
internal static class RuleErrorText
{
    internal static string Of(RuleError error) => error switch
    {
        RuleError.UnknownCommand => "Unknown command or category name in ACL",
        RuleError.AllKeysAlready => After("allkeys", "resetkeys", "patterns"),
        RuleError.AllChannelsAlready => After("allchannels", "resetchannels", "channels"),
        RuleError.NoSuchPassword => "The password you are trying to remove from the user does not exist",
        RuleError.NotAHash => "The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters",
        RuleError.FirstArgumentOfSubcommand => "Allowing first-arg of a subcommand is not supported",
        RuleError.NoSuchDatabase => "The provided database ID is out of range",
        _ => "Syntax error",
    };

    private static string After(string all, string reset, string what) =>
        $"Adding a pattern after the * pattern (or the '{all}' flag) is not valid and does not have any effect. "
        + $"Try '{reset}' to start with an empty list of {what}";
}
