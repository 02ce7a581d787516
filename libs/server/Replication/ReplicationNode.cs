using System.Net.Sockets;
using Garnet.Aof;
using Garnet.Aof.Shipping;
using Garnet.Common;
using Garnet.Common.Linux;
using Garnet.Replication;
using Garnet.Server.Base;
using Garnet.Server.Clients;
using Garnet.Server.Persistence;
using Garnet.Server.Replication.Export;
using Garnet.Replication.Frames;
using Tsavorite;

namespace Garnet.Server.Replication;

/// <summary>
/// The place of this server among others: primary or replica, whom it follows, who follows it. The bytes on the links are batches as
/// the log writes them (website/docs/format/replication.md); how batches are kept, checked and applied is the log's room.
///
/// replication.Z1  A role is changed on one thread, one change after the other; for clients it is changed with the word: from then on a replica
///     refuses writes, and a primary to be lets them wait until it is one.
/// replication.Z2  Before a primary follows, every reactor has ended the round it was in, nothing expires or is evicted any more, and the log
///     is closed: what the server then says of its place in the history is all there is.
/// replication.Z3  A replica's store is changed by its follower only.
/// replication.Z4  A promotion applies all batches that have come whole, and writes in a new term, durable before its first batch, which is empty
///     and tells replicas of it.
///     Until it leads, what can be read and named (tokens) is what has been applied.
/// replication.Z8  A start as a primary is a new term too: what this server wrote before, and its disk did not keep, may be on replicas, and
///     nothing written now may have the same name.
/// replication.Z9  Whoever follows is told now and then what the data behind a batch are, and compares: what differs is said, counted, and replaced
///     by a full sync.
/// replication.Z10  Where a log ends that was lost, nobody is: a server whose log failed goes on from no place of another one, and gets everything.
/// </summary>
internal sealed partial class ReplicationNode : IRole, IShipper, ILogRole, IDisposable
{
    private readonly ServerCore _server;
    private readonly DataKeeper? _keeper;
    private readonly Lock _gate = new();
    private readonly Signal _roleWanted = new(), _acked = new();
    private readonly Terms _terms = new();
    private readonly ResumableCopy _copies;
    private readonly Func<ReplayTable> _replay;
    private readonly Peer? _configured;
    private Thread? _thread;
    private Peer? _wantedPrimary;
    private bool _isRoleWanted, _stopping;
    private volatile bool _isReplica, _changes, _decides;
    private volatile Following? _following;
    private volatile Follower? _follower;
    private long _moves, _comparisons;
    private uint _term = 1;
    private uint _termElsewhere; // of a primary that took over from this server, or that it met, before anything written in it came here

    internal ReplicationNode(ServerCore server, DataKeeper? keeper, Backlog backlog, Func<ReplayTable> replay)
    {
        _keeper = keeper;
        _replay = replay;
        _server = server;
        Backlog = backlog;
        Applied = new AppliedState(Settings.SketchBits);
        Node = new NodeLog(server, keeper, Applied, backlog);
        Links = new ReplicaLinks(server, this);
        Exports = new RdbExports(server, this);
        Barriers = new Barriers(this);
        Digests = new DigestThread(server, this);
        _copies = new ResumableCopy(server.Clock);
        RunId = NewId();
        HistoryId = NewId();
        Position = new NodePosition(this, Node, Applied, _terms, Terms.OwnerBy(RunId));
        TakeSettings();
        server.Table.OnSet("maxmemory-policy", TakeMemorySettings);
        foreach (string name in (ReadOnlySpan<string>)["repl-backlog-size", "client-output-buffer-limit"])
            server.Table.OnSet(name, TakeSettings);
        backlog.Grew += Links.Nudge;
        backlog.Grew += Links.ReviewPlaces;
        Node.Advanced += () => _following?.NudgeAck();
        _configured = Peer.Configured(Settings.ReplicaOf);
        _isReplica = _configured is not null;
    }

    /// <inheritdoc/>
    ulong ILogRole.NeededFrom => Links.NeededFrom;

    /// <inheritdoc/>
    long ILogRole.EntriesLogged => Node.Current?.Figures().Entries ?? 0;

    /// <inheritdoc/>
    uint ILogRole.AppliedTerm => Applied.Term;

    /// <inheritdoc/>
    public Backlog Backlog { get; }

    /// <summary>Raised when the store begins to have the data of another history: whoever knows some of them by heart knows nothing.</summary>
    internal event Action<Worker>? DataReplaced;

    /// <summary>Raised when this server begins to decide what expires.</summary>
    internal event Action? Deciding;

    /// <summary>The log in force.</summary>
    internal NodeLog Node { get; }

    /// <summary>Who follows this server.</summary>
    internal ReplicaLinks Links { get; }

    /// <summary>Data on their way to whoever sent SYNC.</summary>
    internal RdbExports Exports { get; }

    /// <summary>Asks the primary how far it is, for clients.</summary>
    internal Barriers Barriers { get; }

    /// <summary>Reads all data, to compare them.</summary>
    internal DigestThread Digests { get; }

    /// <summary>What readers of a replica may see.</summary>
    internal AppliedState Applied { get; }

    /// <summary>Name of this run of the server, 40 hexadecimal digits.</summary>
    internal string RunId { get; }

    /// <inheritdoc/>
    public string HistoryId { get; private set; }

    /// <summary>The history before the last promotion.</summary>
    internal string HistoryIdBefore { get; private set; } = new('0', 40);

    /// <inheritdoc/>
    public bool IsReplica => _isReplica;

    /// <summary>True while a role is being taken.</summary>
    internal bool IsChanging => _changes;

    /// <summary>True where it is decided what expires and what is evicted: on a primary, once its data are loaded.</summary>
    public bool Decides => _decides;

    /// <summary>The link to the primary; null on a primary and while a replica is not one yet.</summary>
    internal Following? Following => _following;

    /// <summary>The server whose place this is.</summary>
    internal ServerCore Server => _server;

    /// <summary>Log lines.</summary>
    internal ServerLog Log => _server.Log;

    /// <summary>Grows whenever something a client may wait for has moved.</summary>
    internal long Moves => Volatile.Read(ref _moves);

    /// <summary>What reads have met.</summary>
    internal ReadFigures Reads { get; } = new();

    /// <summary>Where this server stands, for clients.</summary>
    internal NodePosition Position { get; }

    /// <inheritdoc/>
    public uint LedTerm => _term;

    /// <summary>The primary that is followed, or is to be.</summary>
    internal Peer Primary
    {
        get
        {
            lock (_gate)
                return (_isRoleWanted ? _wantedPrimary : null) ?? _following?.Primary ?? _wantedPrimary ?? new Peer("", 0);
        }
    }

    internal int TimeoutMs => Settings.TimeoutSeconds * 1000;
    internal long ReceiveBytesMax => Settings.ReceiveBytesMax;
    internal (string User, string Password) Credentials => (Settings.PrimaryUser, Settings.PrimaryPassword);

    /// <summary>What a replica says of itself in front of its place.</summary>
    internal string[] HelloWords =>
    [
        RunId, (Settings.AnnouncePort > 0 ? Settings.AnnouncePort : _server.Port).ToString(System.Globalization.CultureInfo.InvariantCulture),
        Settings.AnnounceAddress.Text is { Length: > 0 } address ? address : "-",
    ];

    /// <inheritdoc/>
    public void Begin(AofStart? start)
    {
        _terms.Take(start?.Terms ?? []);
        if (_configured is { } primary)
        {
            if (start is not null)
            {
                Backlog.Continue(start.Position, start.Filled);
                Applied.Begin(start.Position, start.SealedUnixUs);
            }

            _server.Store.PauseExpiry(true);
            Follow(primary);
            return;
        }

        if (start is not null)
            Lead(start with { Term = Math.Max(start.Term, _terms.AfterStart(TermOnDisk)) }); // replication.Z8
        else if (_keeper is not null)
            _term = _terms.AfterStart(TermOnDisk); // of the log in memory that the first replica asks for
        Decide();
    }

    /// <summary>REPLICAOF: from now on this server is that one's replica. False if it is already.</summary>
    internal bool Follow(Peer primary)
    {
        lock (_gate)
        {
            if (_isRoleWanted ? primary == _wantedPrimary : _following?.Primary == primary)
                return false;
            WantRole(primary);
            return true;
        }
    }

    /// <summary>REPLICAOF NO ONE. False if the server is a primary already.</summary>
    internal bool LeadAlone()
    {
        lock (_gate)
        {
            if (!_isReplica)
                return false;
            WantRole(null);
            return true;
        }
    }

    /// <summary>A replica has come through the port and greeted: from here on it is served by threads of its own.</summary>
    internal void Accept(Socket socket, HelloFacts hello)
    {
        var link = new ReplicaLink(this, hello, _server.Clock);
        Digests.Ensure();
        Links.Break(hello.RunId, "it has connected again");
        Links.Add(new ReplicaThreads(link, new LinkSocket(socket, TimeoutMs, Links.Traffic), Links, _copies, () => Settings.CopyKeepSeconds * 1000), $"+REPL {FrameFormat.Protocol} {RunId}\r\n");
    }

    /// <summary>Something that clients may wait for has moved: a batch applied, an acknowledgement, a role.</summary>
    internal void OnMoved()
    {
        Interlocked.Increment(ref _moves);
        _server.NudgeWaiting();
    }

    /// <summary>Takes over settings that are kept elsewhere.</summary>
    internal void TakeSettings()
    {
        Backlog.BytesMax = Settings.BacklogBytes;
        long hard = _server.Settings.Network.OutputBufferLimits.Replica.HardBytes;
        Backlog.PinnedBytesMax = Math.Max(Settings.BacklogBytes, hard > 0 ? hard : long.MaxValue);
    }

    /// <summary>Ends all links; before the log is closed.</summary>
    internal void Stop()
    {
        lock (_gate)
        {
            _stopping = true;
            _handover?.Abort();
        }

        Barriers.Stop();
        _following?.Cancel();
        _roleWanted.Set();
        _thread?.Join();
        Digests.Stop();
        LetReplicasCatchUp();
        _copies.Close();
        Links.Dispose();
        Exports.Dispose();
        if (_keeper is not { HasLog: true })
            Node.Current?.Stop();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Stop();
        _follower?.Dispose();
        Node.Dispose();
        Applied.Dispose();
        Backlog.Dispose();
    }

    private ReplicationSettings Settings => _server.Settings.Replication;

    private static string NewId() => Convert.ToHexStringLower(Libc.RandomBytes(20));

    private void WantRole(Peer? primary)
    {
        (_wantedPrimary, _isRoleWanted) = (primary, true);
        _isReplica = primary is not null; // replication.Z1
        _changes = true;
        string text = primary is null ? "" : $"{primary.Host} {primary.Port}";
        _server.Table.SetAtStart("replicaof", text, SettingSource.ConfigSet, "REPLICAOF");
        _following?.Cancel();
        _handover?.Abort();
        StartThread();
        _roleWanted.Set();
    }

    private void StartThread()
    {
        if (_thread is not null)
            return;
        _thread = BackgroundThread.Begin("replication", Run, _server.Fail);
    }
}
