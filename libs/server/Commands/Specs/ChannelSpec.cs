namespace Garnet.Server.Commands;

/// <summary>Which arguments of a command name channels, for rights; nothing for a command that names none, or only gives some up.</summary>
/// <param name="First">The first of them; 0 for none.</param>
/// <param name="ToEnd">True if all behind it do too.</param>
/// <param name="ArePatterns">True if they are patterns to subscribe to: such a pattern must be allowed as it is.</param>
internal readonly record struct ChannelSpec(int First, bool ToEnd = false, bool ArePatterns = false)
{
    /// <summary>One channel, right behind the name.</summary>
    internal static readonly ChannelSpec One = new(1);

    /// <summary>All arguments.</summary>
    internal static readonly ChannelSpec All = new(1, ToEnd: true);

    /// <summary>All arguments, as patterns.</summary>
    internal static readonly ChannelSpec Patterns = new(1, ToEnd: true, ArePatterns: true);
}
