namespace Garnet.Server.Rights;

/// <summary>A command as rules see it.</summary>
/// <param name="Id">Its number: a place in the set of what is allowed.</param>
/// <param name="Name">In small letters, a subcommand with its parent: <c>config|get</c>.</param>
/// <param name="Categories">Where it belongs.</param>
/// <param name="Parent">The number of the command whose subcommand it is; 0 for none.</param>
internal sealed record RuleCommand(int Id, string Name, CommandCategories Categories, int Parent);
