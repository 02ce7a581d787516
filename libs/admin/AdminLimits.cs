namespace Garnet.Admin;

/// <summary>How much anybody may have of the listener for operators: each limit stands here and nowhere else.</summary>
internal static class AdminLimits
{
    /// <summary>Connections at the same time: a few scrapers, probes and pages. More are closed before a byte is read.</summary>
    internal const int ConnectionsMax = 64;

    /// <summary>Streams of events at the same time: each is a page that somebody looks at.</summary>
    internal const int StreamsMax = 8;

    /// <summary>Bytes of a request, all of it: a browser sends one to two thousand.</summary>
    internal const int RequestBytesMax = 8 * 1024;

    /// <summary>Bytes that are read and thrown away before a connection is closed, so that its last answer is not lost with what was not read.</summary>
    internal const int DrainBytesMax = 64 * 1024;

    /// <summary>Bytes of an answer that the kernel keeps for who does not read: of its own accord it keeps megabytes, minutes of events.</summary>
    internal const int SendBytesMax = 64 * 1024;

    /// <summary>How long a request may take to arrive.</summary>
    internal static readonly TimeSpan RequestTime = TimeSpan.FromSeconds(5);

    /// <summary>How long an answer, or one event, may take to be taken: what is not read by then is given up with its connection.</summary>
    internal static readonly TimeSpan AnswerTime = TimeSpan.FromSeconds(10);

    /// <summary>How long the end of the other side is waited for.</summary>
    internal static readonly TimeSpan DrainTime = TimeSpan.FromSeconds(1);

    /// <summary>Between two events.</summary>
    internal static readonly TimeSpan EventTime = TimeSpan.FromSeconds(1);

    /// <summary>Events of one stream, a minute of them: then the page asks anew, and a password that was changed counts.</summary>
    internal const int EventsMax = 60;

    /// <summary>Events from one list of all settings to the next: they are long and seldom change.</summary>
    internal const int EventsPerSettings = 10;
}
