using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Server;

/// <summary>What a server does not make itself: tests give it a clock, a log and a directory, a process of its own the commands.</summary>
internal sealed record GivenParts
{
    internal IClock Clock { get; init; } = SystemClock.Instance;

    /// <summary>Takes the store's changes in the place of a log.</summary>
    internal IWriteLog? Log { get; init; }

    /// <summary>In the place of what the settings name.</summary>
    internal Aof.DataDirectory? Directory { get; init; }

    internal CommandsAhead? Commands { get; init; }
}
