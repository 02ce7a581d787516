namespace Garnet.Server.Clients;

/// <summary>
/// What a parked command waits for. The reactor calls <see cref="Resume"/> on its own thread once the wait is over
/// (told through the mailbox, or by the deadline); the reply is written then.
/// </summary>
internal abstract class Parking
{
    private int _end;

    /// <summary>A deadline that has come already: the wait is looked at with every tick, as what it waits for may have changed unseen.</summary>
    internal const long EveryTick = 0;

    /// <summary>A deadline that never comes: somebody else ends the wait.</summary>
    internal const long Never = long.MaxValue;

    /// <summary>
    /// When the wait is looked at without anybody having asked for that, Unix milliseconds: once, when that time has come, and from then on with every tick
    /// (<see cref="EveryTick"/> from the beginning); or <see cref="Never"/>.
    /// </summary>
    internal long DeadlineMs = Never;

    /// <summary>True for a command that blocks by its nature (BLPOP, WAIT): CLIENT UNBLOCK may end it.</summary>
    internal virtual bool IsBlocking => false;

    /// <summary>
    /// True where the command waits for what is this server's own matter (the tier, room): it came before its client ended its side, and runs all the same. Whoever
    /// else has gone while it waited asks for nothing any more, as in Redis.
    /// </summary>
    internal virtual bool OutlivesPeer => false;

    /// <summary>How the wait was ended from outside, if it was.</summary>
    internal WaitEnd End => (WaitEnd)Volatile.Read(ref _end);

    /// <summary>Bytes that are held for the client meanwhile, if they may be many.</summary>
    internal virtual long MemoryBytes => 0;

    /// <summary>The index of the first of its keys that the command comes to when it runs again; those behind it are fetched together if they lie on the tier.</summary>
    internal virtual int NextKey => 0;

    /// <summary>The command came with CLIENT REPLY SKIP: nothing is replied.</summary>
    internal bool IsSilent { get; set; }

    /// <summary>Ends a wait from any thread, unless something else has: the first decides. The connection is still to be resumed.</summary>
    internal bool TryEnd(WaitEnd how) => Interlocked.CompareExchange(ref _end, (int)how, 0) == 0;

    /// <summary>Writes the reply, or runs the command that had to wait; false to go on waiting.</summary>
    internal abstract bool Resume(Worker worker, Connection client);

    /// <summary>The client went away while it waited, or the wait ended in an error.</summary>
    internal virtual void Abandon(Connection client)
    {
    }
}
