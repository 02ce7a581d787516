namespace Garnet.Server.Clients;

/// <summary>
/// What a command tells of a key it has written, as a keyspace event; stands in its spec. What is the same for all commands
/// (removed, expiry set or dropped, created) is told without it.
/// </summary>
internal sealed record KeyEvent(string Name, int Class)
{
    /// <summary>In <see cref="ExpiryAt"/>: the command always sets an expiry.</summary>
    internal const int Always = -1;

    /// <summary>The event of SET and its relatives.</summary>
    internal static readonly KeyEvent Set = new("set", NotifyClasses.String);

    /// <summary>The argument from which on options may set an expiry, which is an event of its own; 0 if none does.</summary>
    public int ExpiryAt { get; init; }

    /// <summary>For a command that moves a key: what is told of the old one, before what is told of the new one.</summary>
    public string From { get; init; } = "";

    /// <summary>For what moves an entry beside the commands: what is told of the key it was taken from.</summary>
    public KeyEvent? Taken { get; init; }

    /// <summary>A key that the command has emptied is told of by this name first, and then as removed.</summary>
    public bool Empties { get; init; }

    /// <summary>A key that the command replaces is not told of as removed, nor as new.</summary>
    public bool Replaces { get; init; }

    /// <summary>A word among the arguments that makes it the other event; null if there is none.</summary>
    public string? Word { get; init; }

    /// <summary>How many arguments stand behind the word at least.</summary>
    public int BehindWord { get; init; }

    /// <summary>The name of the event with <see cref="Word"/>.</summary>
    public string WithWord { get; init; } = "";

    /// <summary>A key that was there is removed first and counts as created anew.</summary>
    public bool Renews { get; init; }
}
