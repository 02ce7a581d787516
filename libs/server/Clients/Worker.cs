using Garnet.Common.Resp;
using Garnet.Media;
using Garnet.Server.Base;
using Tsavorite;

namespace Garnet.Server.Clients;

/// <summary>
/// A thread that runs the commands of its connections, as the rooms see it that know no sockets: what it has at hand for the command that
/// runs, and the few things that may be asked of it. The reactor is one. On the way of a command only its fields are used, not what it
/// overrides.
/// </summary>
internal abstract class Worker(Store store, int index, int commands, ReaderWake wake)
{
    internal const int ReceiveBytesMax = 64 * 1024;
    /// <summary>A request of more bytes than this always came in memory of its own.</summary>
    internal const int PlainRequestBytesMax = BigRequest.Threshold + ReceiveBytesMax;
    internal const int SendEarlyBytes = 256 * 1024;

    private Running? _script;

    internal int Index { get; } = index;
    internal Store Store { get; } = store;
    internal StoreSession Session { get; } = store.OpenSession(wake);
    // wall clock of the round, as is the session's but for reads on a replica (replication.Z6)
    internal long NowMs { get; private protected set; }
    internal RespWriter Out { get; set; } = null!; // from the first moment on: there is no worker without replies
    internal IValueReplies Values { get; set; } = null!; // as Out
    internal ReactorFigures Figures { get; } = new(commands);

    /// <summary>The client whose command runs.</summary>
    internal Connection? Running { get; set; }

    /// <summary>The script or function that runs; null if none does. From any thread.</summary>
    internal Running? Script
    {
        get => Volatile.Read(ref _script);
        set => Volatile.Write(ref _script, value);
    }

    /// <summary>While a command replies to a script.</summary>
    internal bool IsForScript { get; set; }

    /// <summary><see cref="StoreSession.Changes"/> when the running command began.</summary>
    internal long ChangesBefore { get; set; }

    /// <summary>Commands that were put off in the middle, and keep what they have gathered so far.</summary>
    internal int Gathering;

    /// <summary>Reads that were counted before the command that runs.</summary>
    internal ReadCounts ReadsBefore;

    /// <summary>What the running command has changed, while somebody wants to know.</summary>
    internal List<KeyNote> Notes { get; } = [];

    /// <summary>
    /// The keyspace event of each change of the running command, in the order of the changes; null = no event. Only commands whose event
    /// depends on what they have done fill it: the others have one event, in their spec.
    /// </summary>
    internal List<KeyEvent?> Told { get; } = [];

    /// <summary>What the batch has changed, for those who want it by prefix, and who changed it.</summary>
    internal SortedDictionary<byte[], Connection?> Broadcasts => _broadcasts ??= new(ByteOrder.Comparer);
    private SortedDictionary<byte[], Connection?>? _broadcasts;

    /// <summary>True if there is any such.</summary>
    internal bool HasBroadcasts => _broadcasts is { Count: > 0 };

    /// <summary>Its turns among those of the others (rule scripting.G2).</summary>
    internal Turn Turn { get; } = new();

    /// <summary>The connections.</summary>
    internal ConnectionSlots Slots { get; } = new();

    /// <summary>Adds its connections; from any thread.</summary>
    internal void CopyClientsTo(List<Connection> to) => Slots.CopyTo(to);

    /// <summary>Connections held now; read by the acceptor to balance.</summary>
    internal int ConnectionCount;

    /// <summary>Bytes that its clients hold, and the largest of those that may be given up; looked at by the others (<c>maxmemory-clients</c>).</summary>
    internal long ClientBytes, LargestClientBytes;

    /// <summary>True while something here waits for the log; read by the threads that write it.</summary>
    internal volatile bool AwaitsLog;

    /// <summary>True once the server is to stop.</summary>
    internal abstract bool IsStopping { get; }

    /// <summary>Takes back what the running command has written.</summary>
    internal void TakeBackReply() => Out.TakeBackReply();

    /// <summary>Makes the loop look at its settings and clocks again. From any thread.</summary>
    internal abstract void Nudge();

    /// <summary>Posts a message that runs on the worker's thread. From any thread.</summary>
    internal abstract void Post(Action<Worker, Connection?, object?> action, Connection? client = null, object? content = null);

    /// <summary>Adds an out-of-band message for a connection of this worker (rule net.R2).</summary>
    internal abstract void Push(Connection client, ReadOnlySpan<byte> message);

    /// <summary>Puts a connection among those that wait.</summary>
    internal abstract void Park(Connection client, Parking waiting);

    /// <summary>Makes a parked connection go on at the end of its wait (see <see cref="Parking"/>).</summary>
    internal abstract void TryResume(Connection client);

    /// <summary>Looks at the waiting commands that the condition names; true if some go on waiting.</summary>
    internal abstract bool ResumeWhere(Predicate<Parking> condition);

    /// <summary>Closes a connection now, dropping what it has not been sent.</summary>
    internal abstract void Close(Connection client);

    /// <summary>
    /// Gives the socket of a connection into other hands, on the worker's thread. Null, and nothing has happened, if something is still to be
    /// sent or was received on it.
    /// </summary>
    internal abstract System.Net.Sockets.Socket? Detach(Connection client);

    /// <summary>The batches of the last change and of what was looked at last, if a reply must wait for them; nothing if not.</summary>
    internal abstract (LogMark Written, LogMark Seen) TakeMarks();

    /// <summary>Bytes of a reply at most, by who gets it.</summary>
    internal abstract long ReplyBytesMax(Connection client);

    /// <summary>True if a reply that ends at a mark is longer than its client may get.</summary>
    internal abstract bool IsLongReply(Connection client, long mark);

    /// <summary>Writes the error that stands in for a reply of so many bytes, and closes the client if its class has a limit (net.R9).</summary>
    internal abstract void RefuseLongReply(Connection client, long bytes);

    /// <summary>True, and the reply is an error now, if the reply of the command that has just run was longer than its client may get (net.R9).</summary>
    internal abstract bool ReplacesLongReply(Connection client);

    /// <summary>A script could not begin because another one has run for too long: nothing else of the batch runs either.</summary>
    internal abstract void GiveUpBatch();

    /// <summary>Answers clients out of a script that runs here for too long.</summary>
    internal abstract void ServeBusy();
}
