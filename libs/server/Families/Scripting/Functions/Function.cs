using Garnet.Server.Clients;

namespace Garnet.Server.Families.Scripting.Functions;

/// <summary>A function of a library, as it lies in one state.</summary>
internal sealed record Function(string Name, string? Description, ScriptFlags Flags, int Reference)
{
    /// <summary>Its library's text speaks of whole databases.</summary>
    internal bool IsOrdered { get; init; }

    /// <summary>Letters, digits and underscores, at least one: names of functions and libraries.</summary>
    internal static bool IsName(string name) =>
        name.Length > 0 && name.All(static letter => char.IsAsciiLetterOrDigit(letter) || letter == '_');
}
