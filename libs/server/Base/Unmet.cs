using Garnet.Common;
using Tsavorite;

namespace Garnet.Server.Base;

/// <summary>
/// What a command could not have, whatever it was: its client's error, and nobody else's. It asked for more than can be held, or the environment failed it
/// (a value on the tier that cannot be read).
/// </summary>
internal static class Unmet
{
    /// <summary>True for a failure of this kind.</summary>
    internal static bool Is(Exception error) => error is GarnetException || TooMuch.IsTooLarge(error);

    /// <summary>True if it can have it later, and what leaves the command says so: it is put off.</summary>
    internal static bool IsForNow(Exception error) => error is ColdMissException or RoomMissException;

    /// <summary>What the client is told about it.</summary>
    internal static string TextOf(Exception error) => error is not GarnetException environment ? "ERR " + TooMuch.TextOf(error)
        : environment.What.StartsWith("OOM ", StringComparison.Ordinal) ? $"{environment.What}: {environment.Why}"
        : $"ERR {environment.What}: {environment.Why}";
}
