using Garnet.Aof.Shipping;
using Garnet.Server.Clients;
using Garnet.Server.Persistence;
using Tsavorite;

namespace Garnet.Server.Replication;

/// <summary>
/// The place of this server among others: primary or replica, whom it follows, who follows it. The bytes on the links are batches as
/// the log writes them (website/docs/format/replication.md); how batches are kept, checked and applied is the log's room.
///
/// This is the composition: it makes the parts, joins them, and stops them in order. Each part asks for those it uses; the rules stand with
/// whoever keeps them: replication.Z1 in <see cref="RoleState"/>, replication.Z2 and replication.Z3 in <see cref="Demotion"/>, replication.Z4 and
/// replication.Z8 in <see cref="Promotion"/>, replication.Z5 and replication.Z6 in <see cref="RoleAccess"/>, replication.Z7 in <see cref="RoleGiving"/>,
/// replication.Z9 in <see cref="DigestRound"/>, replication.Z10 in <see cref="NodeLog"/>.
/// </summary>
internal sealed class ReplicationNode : IDisposable
{
    internal ReplicationNode(ServerCore server, DataKeeper? keeper, Backlog backlog, Func<ReplayTable> replay)
    {
        ReplicationSettings settings = server.Settings.Replication;
        History = new NodeHistory(() => keeper?.LastTerm ?? 0);
        Applied = new AppliedState(settings.SketchBits);
        Log = new NodeLog(server.Store, server.Clock, keeper, History, Applied, backlog);
        Role = new RoleState(server.Table, settings);
        Position = new NodePosition(Role, History, Log, Applied);
        Moves = new Moves(server.Workers);
        Shipping = new Shipping(server, Role, History, Log, Position);
        Access = new RoleAccess(settings, Role, Applied, Shipping.Links);
        Adoption = new Adoption(server.Log, server.Workers, History, Log, Shipping);
        Change = new RoleChange(server, Role, History, Log, Shipping.Links, new Followers(server, Log, replay, Adoption, Access, Moves));
        Handovers = new Handovers(settings, server.Clock, Role, History, Log, Shipping.Links);
        Barriers = new Barriers(settings, server.Tls, server.Fail, Role, Moves, Shipping.Links.Traffic);
        ForKeeper = new LogRole(Role, Change, History, Log, Applied, Shipping);
        ForCopies = new CopyRole(Access, Position, Shipping);
        Role.Moved += Moves.Tell;
        Shipping.Acked += Handovers.OnAck;
        Shipping.Acked += Moves.Tell;
        Log.Advanced += Role.NudgeAck;
    }

    /// <summary>Raised when the store begins to have the data of another history: whoever knows some of them by heart knows nothing.</summary>
    internal event Action<Worker>? DataReplaced
    {
        add => Adoption.DataReplaced += value;
        remove => Adoption.DataReplaced -= value;
    }

    /// <summary>Raised when this server begins to decide what expires.</summary>
    internal event Action? Deciding
    {
        add => Change.Deciding += value;
        remove => Change.Deciding -= value;
    }

    /// <summary>True from the word REPLICAOF on.</summary>
    internal bool IsReplica => Role.IsReplica;

    /// <summary>True if the rule of roles has something to say of commands: they are put to it one by one.</summary>
    internal bool IsAsked => Access.IsAsked;

    /// <summary>True while a replica has no data to show because all of it is coming in.</summary>
    internal bool IsLoading => Access.IsLoading;

    /// <summary>True if what is read must be the state behind one batch (replication.Z5).</summary>
    internal bool ReadsOneState => Access.ReadsOneState;

    /// <summary>True if plain clients may read here, and what they read is to be checked against what is being applied.</summary>
    internal bool TakesReads => Access.TakesReads;

    /// <summary>Who follows this server.</summary>
    internal ReplicaLinks Links => Shipping.Links;

    /// <summary>What went over links to other servers.</summary>
    internal LinkTraffic Traffic => Shipping.Links.Traffic;

    /// <summary>The last batches.</summary>
    internal Backlog Backlog => Log.Backlog;

    /// <summary>Name of this run of the server, 40 hexadecimal digits.</summary>
    internal string RunId => History.RunId;

    /// <summary>The role, and the one that is wanted.</summary>
    internal RoleState Role { get; }

    /// <summary>What the role lets clients do.</summary>
    internal RoleAccess Access { get; }

    /// <summary>How the role changes.</summary>
    internal RoleChange Change { get; }

    /// <summary>The role given away.</summary>
    internal Handovers Handovers { get; }

    /// <summary>The names and terms of what this server has.</summary>
    internal NodeHistory History { get; }

    /// <summary>The log in force.</summary>
    internal NodeLog Log { get; }

    /// <summary>What readers of a replica may see.</summary>
    internal AppliedState Applied { get; }

    /// <summary>Where this server stands, for clients.</summary>
    internal NodePosition Position { get; }

    /// <summary>Something that clients may wait for has moved.</summary>
    internal Moves Moves { get; }

    /// <summary>What replicas and others get from here.</summary>
    internal Shipping Shipping { get; }

    /// <summary>What a replica had before, and whether it has what its primary has.</summary>
    internal Adoption Adoption { get; }

    /// <summary>Asks the primary how far it is, for clients.</summary>
    internal Barriers Barriers { get; }

    /// <summary>This place as whoever keeps the data knows it.</summary>
    internal ILogRole ForKeeper { get; }

    /// <summary>This place as whoever takes copies of all data knows it.</summary>
    internal CopyRole ForCopies { get; }

    /// <summary>A server without a data directory takes the role its settings give it.</summary>
    internal void BeginInMemory() => ForKeeper.Begin(null);

    /// <summary>A server that stops gives its role away if it is told to and can; <paramref name="then"/> follows in any case.</summary>
    internal void HandOverAndStop(Action then) => Handovers.BeforeStop(then);

    /// <summary>Ends all links; before the log is closed.</summary>
    internal void Stop()
    {
        Role.Stop();
        Barriers.Stop();
        Change.Stop();
        Shipping.EndDigests();
        Handovers.LetReplicasCatchUp();
        Shipping.Dispose();
        Log.End();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Stop();
        Change.Dispose();
        Log.Dispose();
        Applied.Dispose();
        Backlog.Dispose();
    }
}
