namespace Garnet.Server.Net;

/// <summary>
/// What a parked command waits for. The reactor calls <see cref="Resume"/> on its own thread once the wait is over
/// (told through the mailbox, or by the deadline); the reply is written then.
/// </summary>
internal abstract class Parking
{
    /// <summary>When the wait ends by itself, Unix milliseconds; <see cref="long.MaxValue"/> = never.</summary>
    internal long DeadlineMs = long.MaxValue;

    /// <summary>Writes the reply, or runs the command that had to wait; false to go on waiting.</summary>
    internal abstract bool Resume(Reactor reactor, Connection client);

    /// <summary>The client went away while it waited.</summary>
    internal virtual void Abandon(Connection client)
    {
    }
}
