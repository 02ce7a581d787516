namespace Garnet.Server.Rights;

/// <summary>What a user might do at one moment: unlike the user it does not change.</summary>
/// <param name="Name">The user's name, a character for a byte.</param>
/// <param name="Rights">Which nobody changes any more (rights.R1).</param>
internal readonly record struct NamedRights(string Name, UserRights Rights)
{
    /// <summary>As in a file.</summary>
    public override string ToString() => $"user {Name} {Rights}";
}
