namespace Garnet.Server.Commands;

/// <summary>What a key is among those of its command, which decides how it is used.</summary>
internal enum KeyPlace : byte
{
    First,
    Rest,
    /// <summary>Stored in (<see cref="KeySpec.TargetUsage"/>).</summary>
    Target,
}
