namespace Garnet.Server;

/// <summary>A user as a configuration file has it (<c>user name rule ...</c>).</summary>
/// <param name="Where">File and line.</param>
/// <param name="Words">What stands behind the word <c>user</c>.</param>
public sealed record UserLine(string Where, IReadOnlyList<string> Words);
