namespace Garnet.Server.Clients;

/// <summary>
/// How often and for what the commands of a client were put off last: for records that lie on the tier, or for room in memory. A client has this once one of its commands was: most
/// never come to anything that is not at hand.
/// </summary>
internal sealed class PutOffs(Connection client)
{
    /// <summary>Number of the command that was put off for the tier last.</summary>
    internal long FetchCommand = Connection.NoCommand;

    /// <summary>Its number when it was put off first.</summary>
    internal long FetchFirstCommand = Connection.NoCommand;

    /// <summary>How often in a row, not counting where it had got on.</summary>
    internal int FetchTries;

    /// <summary>Number of the command that names more of the tier than can be at hand together.</summary>
    internal long FetchTooMuchIn = Connection.NoCommand;

    /// <summary>Number of the command that has been put off too often last.</summary>
    internal long FetchHeldIn = Connection.NoCommand;

    /// <summary>It is the first of those that wait, and was when it was put off last: what it has come to since stays.</summary>
    internal bool FetchIsFirst;

    /// <summary>What the command was put off for first.</summary>
    internal ulong FetchedFirst;

    /// <summary>All that it was put off for, if that is more.</summary>
    internal HashSet<ulong>? Fetched;

    /// <summary>Number of the command that was put off for room last.</summary>
    internal long RoomCommand = Connection.NoCommand;

    /// <summary>Until when it is, Unix milliseconds.</summary>
    internal long RoomUntilMs;

    /// <summary>Its place among those that wait for room; in no list while it does not.</summary>
    internal readonly LinkedListNode<Connection> RoomPlace = new(client);

    /// <summary>The number that the command had before it was put off for the first time, if it was: it is the next one by number each time that it is framed again.</summary>
    internal long FirstFramingOf(long command) => command - FetchCommand is 0 or 1 ? FetchFirstCommand : command;

    /// <summary>Bytes of memory that it takes.</summary>
    internal long MemoryBytes => 152 + ((Fetched?.Count ?? 0) * 24L);
}
