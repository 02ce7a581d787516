using Garnet.Common.Faults;

namespace Garnet.Server.Base;

/// <summary>What somebody has asked for and nobody can have.</summary>
internal static class TooMuch
{
    /// <summary>What a client is told about it.</summary>
    internal static string TextOf(Exception error) =>
        error is TooLargeException ? error.Message : "the system has no memory for what was asked for";

    /// <summary>True for a failure of this kind.</summary>
    internal static bool IsTooLarge(Exception error) => error is TooLargeException or OutOfMemoryException;
}
