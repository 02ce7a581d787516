using Garnet.Common.Time;
using Tsavorite;

namespace Garnet.Server.Clients;

/// <summary>The script or function that a reactor runs now.</summary>
internal sealed class Running(Connection client, string name, ScriptFlags flags, bool isReadOnly)
{
    private byte[][] _command = [];

    internal Connection Client => client;

    /// <summary>The SHA1 of a script, or the name of a function.</summary>
    internal string Name => name;

    internal ScriptFlags Flags => flags;

    /// <summary>Called by a command that may not write.</summary>
    internal bool IsReadOnly => isReadOnly || (flags & ScriptFlags.NoWrites) != 0;

    /// <summary>Its text speaks of whole databases: its effects are a batch of their own, in their order.</summary>
    internal bool IsOrdered { get; set; }

    /// <summary>It is a function.</summary>
    internal bool IsFunction { get; init; }

    /// <summary>A command that may write has run: it can no longer be stopped without leaving a part.</summary>
    internal volatile bool HasWritten;

    /// <summary>Somebody wants it to end.</summary>
    internal volatile bool IsKilled;

    /// <summary>Memory was over its limit when it began.</summary>
    internal bool IsTight { get; init; }

    /// <summary>There was room when it began, and nothing is evicted while it runs: it is not refused what it takes beyond (store.U20).</summary>
    internal void AssureRoom(StoreSession session)
    {
        if (!IsTight)
            session.Room.AssureWhereEvicted();
    }

    /// <summary>Replies of commands come as RESP3 (redis.setresp).</summary>
    internal bool WantsResp3 { get; set; }

    /// <summary>When it began, microseconds of the monotonic clock.</summary>
    internal long BeganUs { get; init; }

    /// <summary>True if it has run for longer than others should wait without a word.</summary>
    internal bool IsBusy(ScriptSettings settings, IClock clock) =>
        settings.BusyMilliseconds is > 0 and var limit && clock.MonotonicUs - BeganUs > limit * 1000;

    /// <summary>The command that called it, once it has run for long: for FUNCTION STATS.</summary>
    internal byte[][] Command => Volatile.Read(ref _command);

    /// <summary>Keeps the command for others to read; on the thread that runs it.</summary>
    internal void KeepCommand(byte[][] command) => Volatile.Write(ref _command, command);
}
